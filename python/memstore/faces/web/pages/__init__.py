"""The pages, a module each; :mod:`memstore.faces.web.sections` is their table."""
