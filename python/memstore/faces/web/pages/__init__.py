"""The pages, a module each; :mod:`memstore.faces.web.server.sections` is their table."""
