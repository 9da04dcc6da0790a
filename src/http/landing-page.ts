/** What a person sees who opens the address of the daemon: where things are. Holds nothing that needs a token. */
export const landingPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Hotcell</title>
<style>body{font:16px/1.5 system-ui;max-width:44rem;margin:3rem auto;padding:0 1rem}code{background:#8882;padding:.1em .3em}</style>
<h1>Hotcell runs here</h1>
<p>Drop a TypeScript file into the plugin folder and it is a tool. Requests carry
<code>Authorization: Bearer &lt;token&gt;</code>; the admin token is in the file <code>token</code> of the data directory.</p>
<ul>
<li><a href="/openapi.json">/openapi.json</a>: every operation over HTTP</li>
<li><code>GET /api/tools</code>, <code>POST /api/tools/NAME/call</code>: the tools</li>
<li><code>GET /api/plugins</code>: the plugins and their states</li>
<li><code>GET /api/events</code>: server-sent events</li>
<li><code>WS /ws</code>: JSON-RPC 2.0, every operation; <code>rpc.discover</code> lists the methods</li>
<li><a href="/healthz">/healthz</a>, <a href="/readyz">/readyz</a>, <code>/metrics</code></li>
</ul>
<p>On the command line: <code>hotcell tool list</code>, <code>hotcell call NAME key=value</code>, <code>hotcell --help</code>.</p>
</html>
`;
