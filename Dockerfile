# syntax=docker/dockerfile:1
# The server over HTTP in a container: docs/serving.md says how to run it.

FROM rust:1.95-slim-bookworm AS rust

FROM python:3.13-slim-bookworm AS build
# The kernel is Rust: its compiler, and the linker it calls.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
COPY --from=rust /usr/local/rustup /usr/local/rustup
COPY --from=rust /usr/local/cargo /usr/local/cargo
ENV RUSTUP_HOME=/usr/local/rustup \
    CARGO_HOME=/usr/local/cargo \
    PATH=/usr/local/cargo/bin:$PATH
WORKDIR /source
COPY pyproject.toml Cargo.toml Cargo.lock LICENSE README.md ./
COPY rust rust
COPY python python
# Installs a wheel, as it is published, into an environment that the next stage copies.
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels --config-settings=build-args=--locked . \
    && python -m venv /opt/memstore \
    && /opt/memstore/bin/pip install --no-cache-dir "$(echo /wheels/*.whl)[http,metrics,postgres]"

FROM python:3.13-slim-bookworm
LABEL org.opencontainers.image.title="memstore" \
      org.opencontainers.image.description="Durable memory for AI agents, as an MCP server over HTTP" \
      org.opencontainers.image.licenses="MIT AND LicenseRef-Llama-2-Community"
# A number, so that Kubernetes can check that it is not root.
RUN groupadd --gid 10001 memstore \
    && useradd --uid 10001 --gid 10001 --no-create-home --shell /usr/sbin/nologin memstore \
    && install --directory --owner=10001 --group=10001 --mode=0700 /data
COPY --from=build /opt/memstore /opt/memstore
ENV PATH=/opt/memstore/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    MEMSTORE_DB=/data/memory.db
USER 10001:10001
VOLUME /data
EXPOSE 8765
HEALTHCHECK --interval=30s --timeout=5s --start-period=15s --retries=3 \
    CMD ["python", "-c", "import urllib.request as ask; ask.build_opener(ask.ProxyHandler({})).open('http://127.0.0.1:8765/health', timeout=4)"]
CMD ["memstore-mcp", "--http", "0.0.0.0:8765"]
