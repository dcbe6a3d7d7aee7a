"""Sync: the memories of several devices, kept equal through a place where all of them meet.

A place holds opaque files, and each device writes only its own (:mod:`memstore.sync.places`). A
file holds the lines of one device's journal, with UUIDs in place of ids. What follows from the
lines of all devices is the same on each of them, in whatever order the files arrive.
"""
