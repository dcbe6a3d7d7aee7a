"""What the programs that tests start have in common, as their text."""

LETTERS = """
import numpy as np

class Letters:
    model = "letters-26"
    def embed(self, texts):
        return np.array([[text.count(chr(97 + i)) + 0.5 for i in range(26)] for text in texts],
                        dtype=np.float32)
"""
