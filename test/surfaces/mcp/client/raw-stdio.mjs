// A server of the 2025 era over standard input and output, written by hand. Its first argument says
// how it behaves.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [mode = '', log] = process.argv.slice(2);
const note = (line) => log !== undefined && appendFileSync(log, `${line}\n`);
const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
let tools = [{ name: 'act', description: 'Acts.', inputSchema: { type: 'object' } }];

note(`start ${process.pid}`);
if (mode === 'dumb') setInterval(() => {}, 1_000);
if (mode === 'broken') {
  process.stderr.write('cannot find \u001b[31mthe database\n');
  process.exit(3);
}
if (mode === 'stubborn') {
  process.on('SIGTERM', () => note('SIGTERM'));
  setInterval(() => {}, 1_000);
}
if (mode === 'noisy') process.stdout.write('Welcome!\n\n{"not": "a message"}\n');

const act = (id, { what, size = 0 }) => {
  const done = (text) => send({ id, result: { content: [{ type: 'text', text }] } });
  if (what === 'die') process.exit(1);
  else if (what === 'hang') return;
  else if (what === 'flood') process.stdout.write('x'.repeat(size));
  else if (what === 'parts') send({ id, result: { content: Array(size).fill({}) } });
  else if (what === 'env') done(Object.keys(process.env).sort().join(' '));
  else if (what === 'cwd') done(process.cwd());
  else if (what === 'args') done(JSON.stringify(process.argv.slice(3)));
  else if (what === 'change') {
    tools = [{ ...tools[0], description: 'Acts otherwise.' }];
    send({ method: 'notifications/tools/list_changed' });
    done('changed');
  } else done(`pid ${process.pid}`);
};

// As servers do that were made with some older packages.
let greeted = false;
let stuck = false;

if (mode !== 'dumb')
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    greeted ||= method === 'initialize';
    if (!greeted && mode === 'strict') process.exit(1);
    stuck ||= !greeted && mode === 'stuck';
    if (stuck) return;
    if (id === undefined) note(method);
    else if (method === 'initialize')
      send({
        id,
        result: {
          protocolVersion: '2025-06-18',
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: 'raw', version: '1' },
        },
      });
    else if (method === 'tools/list') send({ id, result: { tools } });
    else if (method === 'tools/call') act(id, params.arguments);
    else send({ id, error: { code: -32_601, message: 'Method not found' } });
  });
