#!/usr/bin/env bash
# The programs on Node: the TypeScript SDK, the Inspector, and the conformance suite. Needs memstore
# with the extra http and Node 22 on the PATH; works in a folder of its own.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'kill %% 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @modelcontextprotocol/sdk@1 \
    @modelcontextprotocol/inspector@2 @modelcontextprotocol/conformance@0.2.0-alpha.12
export PATH="$folder/node_modules/.bin:$PATH"

server=$(command -v memstore-mcp)
cp "$here/connect.mjs" . && node connect.mjs "$server"

for era in legacy modern; do
    mcp-inspector --cli "$server" --db inspected.db --tools facts,tasks,episodes,graph,learn \
        --method tools/list --strict --protocol-era "$era" >listed 2>told
    cat told
    grep -q '"memory_search"' listed
    if grep -q '^Warning' told; then exit 1; fi
    echo "Inspector, $era: no error and no warning"
done

address=127.0.0.1:8770
python "$here/conformance_server.py" "$address" 2>served &
until grep -q serving served; do kill -0 %% && sleep 0.1; done
for revision in 2025-11-25 2026-07-28; do
    conformance server --url "http://$address/mcp" --requirements "$revision" \
        --expected-failures "$here/conformance.yml" >suite || { cat suite; exit 1; }
    sed -n '/=== SUMMARY/,$p' suite
done
