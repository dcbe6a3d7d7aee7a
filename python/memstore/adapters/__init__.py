"""The memory under other programs' own interfaces; import the module of the framework in use.

An adapter works on an open :class:`memstore.Store`, which it never closes, or on a path, which it
opens and closes. No extra is needed: who needs an adapter has its framework.
"""
