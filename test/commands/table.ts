// biome-ignore-all lint/complexity/useLiteralKeys: a command with both quotes is read as a template.
/** Every printed command line: what it needs and does, or why it is not run. */

import { commandLine } from './command-line-rows.ts';
import {
  client,
  fenceOf,
  gateway,
  programOf,
  programs,
  recorded,
  tools,
  writeAudit,
  writeKeyedAudit,
} from './reader-files.ts';
import type { PageRows } from './rows.ts';
import {
  answered,
  checked,
  guarded,
  installed,
  listening,
  login,
  overHttp,
  redis,
  relay,
} from './shared-rows.ts';

const npxGateway =
  'npx -y -p host-tools -p @modelcontextprotocol/client@2 -p @modelcontextprotocol/server@2 host-tools';
const acpPackages = 'npm install host-tools zod @agentclientprotocol/sdk unbash';
const name = 'a name in a sentence, and no command line';

export const table: Readonly<Record<string, PageRows>> = {
  'README.md': {
    files: {
      'refunds.mjs': `${programOf('README.md', false).replace('4042', '0')}
server.on('listening', () => console.log('listens'));
`,
    },
    commands: {
      'npx host-tools init my-tools': {
        says: /Next:\n {2}cd my-tools\n {2}npm install\n {2}npm test/,
      },
      'node refunds.mjs': {
        before: ({ run }) => run('npm install host-tools zod').then(() => {}),
        until: /listens/,
      },
      'npx host-tools hook install claude-code': installed,
      'npx host-tools hook check claude-code': checked,
      [`${npxGateway} gateway import`]: {
        files: client,
        says: /gateway\.yaml with 1 server of `\.mcp\.json`: files/,
      },
      [`${npxGateway} serve gateway.yaml`]: answered,
      'npx -y -p host-tools -p ws@8 -p @modelcontextprotocol/server@2 host-tools relay': relay,
    },
  },
  'docs/audit.md': {
    files: { ...tools, ...recorded, ...gateway },
    commands: {
      'npx host-tools audit verify audit.jsonl --head 5f1c… --key-file audit.secret': {
        before: writeKeyedAudit,
        instead: { '5f1c…': '$(cut -d" " -f3 heads.txt)' },
      },
      'npx host-tools audit report audit.jsonl --key-file audit.secret --html report.html': {
        says: /1 call/,
      },
      'npx host-tools audit report audit.jsonl audit-2.jsonl --key-file audit.secret': {
        says: /2 calls/,
      },
      [`npx host-tools audit verify --store ${redis}`]: { says: /0 lines in 0 chains/ },
      'cat audit*.jsonl | npx host-tools policy backtest --host-tools gateway.yaml --from - --rules new.yaml':
        { before: writeAudit },
    },
  },
  'docs/backtest.md': {
    files: recorded,
    commands: {
      'npx host-tools policy backtest --host-tools tools.yaml --from calls.jsonl --rules new.yaml --fail-on deny':
        { says: /5 calls, 2 decided differently/ },
    },
  },
  'docs/cedar-and-opa.md': {
    commands: {
      'opa build -t wasm -e tools/allow tools.rego': 'the program of Open Policy Agent',
      'tar -xzf bundle.tar.gz /policy.wasm': 'the output of the program of Open Policy Agent',
    },
  },
  'docs/coding-agents.md': {
    files: { 'rules.yaml': fenceOf('docs/coding-agents.md', '# rules.yaml') },
    commands: {
      'npx host-tools hook install claude-code --print': {
        says: /rules\.yaml[\s\S]*settings\.json/,
      },
      'npx host-tools hook install claude-code': installed,
      'npx host-tools hook check claude-code': checked,
      [`echo '{"session_id":"s","cwd":"/tmp","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push"}}' |
  npx host-tools hook claude-code --host-tools rules.yaml`]: {
        says: /"permissionDecision":"ask"/,
      },
      [`echo '{"session_id":"s","cwd":"/tmp","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"/etc/hosts"}}' |
  npx host-tools hook claude-code --host-tools rules.yaml`]: {
        says: /"permissionDecision":"deny".*no-hosts/,
      },
      'npx host-tools hook install claude-code --rules rules.yaml': installed,
      'npx x': name,
      'npm install github:x/y': name,
      'node script.js': name,
      'cd my-project': {
        before: ({ write }) => write({ 'my-project/guard.yaml': 'network: []\n' }),
      },
      'host-tools guard --host-tools guard.yaml -- claude': guarded,
    },
  },
  'docs/acp.md': {
    files: Object.fromEntries(
      ['rules.yaml', 'agent.mjs', 'editor.mjs', 'client.mjs', 'served.mjs'].map((file) => [
        file,
        fenceOf('docs/acp.md', file),
      ]),
    ),
    commands: {
      'node client.mjs': {
        before: ({ run }) => run(acpPackages).then(() => {}),
        says: /npm test .*'yes' \}\nrm -rf \/ .*'no' \}\n/,
      },
      'node served.mjs': {
        before: ({ run }) => run(acpPackages).then(() => {}),
        says: /The editor writes \/work\/a\.ts\ntrue\n/,
      },
      'node editor.mjs': {
        before: ({ run }) => run(acpPackages).then(() => {}),
        says: /npm test: yes\n.*git push\n.*\ngit push: no\n.*\nRead \.env: no\n/,
      },
      'npx host-tools audit report audit.jsonl': {
        before: ({ run }) => run(`${acpPackages} && node editor.mjs`).then(() => {}),
        says: /3 calls: 1 succeeded, 2 rejected/,
      },
      'npx host-tools acp --host-tools rules.yaml -- gemini --acp': {
        instead: { 'gemini --acp': 'cat < /dev/null' },
      },
    },
  },
  'docs/command-line.md': commandLine,
  'docs/files.md': {
    isOneWalk: true,
    files: {
      'greet.mjs': fenceOf('docs/files.md', '// greet.mjs'),
      'tools.yaml': fenceOf('docs/files.md', '# tools.yaml'),
    },
    commands: {
      'npx host-tools list --host-tools tools.yaml': { says: /^greet/m },
      [`npx host-tools call greet --host-tools tools.yaml --input '{"name":"Ann"}'`]: {
        says: /Hello, Ann!/,
      },
      [`npx host-tools call greet --host-tools tools.yaml --input '{"name":1}' # invalid_input`]: {
        exit: 1,
        says: /invalid_input/,
      },
    },
  },
  'docs/fleet.md': {
    isOneWalk: true,
    files: Object.fromEntries(
      ['report.js', 'worker-tools.js', 'host.js'].map((file) => [
        file,
        fenceOf('docs/fleet.md', `// ${file}`),
      ]),
    ),
    commands: {
      'npm init -y && npm pkg set type=module': {},
      [`npx host-tools worker --redis ${redis} --queue reports --host-tools-module ./worker-tools.js &`]:
        { instead: { ' &': '' }, until: /Serving `reports`: render_report/ },
      'node host.js': {
        // The worker ends with its host.
        instead: {
          'node host.js': `set -m; npx host-tools worker --redis ${redis} --queue reports --host-tools-module ./worker-tools.js & node host.js; kill %1`,
        },
        says: /Risks, 20 pages, by process \d+/,
      },
    },
  },
  'docs/gateway.md': {
    isOneWalk: true,
    files: client,
    commands: {
      'npx host-tools gateway import': { says: /gateway\.yaml with 1 server/ },
      'npx host-tools list --host-tools gateway.yaml': { says: /files\.read_note/ },
      'npx host-tools gateway login mail': login,
      'npx host-tools call run_code --host-tools gateway.yaml --input @program.json': {
        before: ({ write }) =>
          write({
            'gateway.yaml': programs,
            'program.json': JSON.stringify({
              code: "return await tools['files.read_note']({}).catch(({ code }) => code);",
            }),
          }),
        says: /"output": "handler_error"/,
      },
      'npx host-tools audit report audit*.jsonl': { before: writeAudit, says: /2 calls/ },
      'npx host-tools serve gateway.yaml --http 8931': overHttp,
    },
  },
  'docs/getting-started.md': {
    isOneWalk: true,
    files: { 'page.mts': programOf('docs/tools.md') },
    commands: {
      'npx host-tools init first': {},
      'npm test': { says: /pass 3/ },
      [`npx host-tools call deploy --host-tools host-tools.yaml --profile agent --input '{"service":"web","environment":"production"}'`]:
        { exit: 1, says: /production_needs_a_person/ },
      [`npx host-tools call deploy --host-tools host-tools.yaml --profile agent --input '{"service":"web","environment":"staging"}'`]:
        { says: /"deployed": "web"/ },
      'node first.js': {
        before: ({ write }) => write({ 'first/first.js': programOf('docs/getting-started.md') }),
        says: /AUDIT delete_note policy_denied secrets_stay/,
      },
      'npx tsx page.mts': { before: ({ run }) => run('cp ../page.mts .').then(() => {}) },
    },
  },
  'docs/inspector.md': {
    files: tools,
    commands: {
      'npx host-tools inspect --host-tools tools.yaml --allow-calls': { until: listening },
    },
  },
  'docs/keep-an-audit.md': {
    isOneWalk: true,
    commands: {
      'openssl rand -hex 32 > audit.secret && chmod 600 audit.secret': {},
      [`npx host-tools audit verify /var/log/agent/audit.jsonl --key-file audit.secret --head "$(tail -1 heads.txt | cut -d' ' -f3)"`]:
        { before: writeKeyedAudit, instead: { '/var/log/agent/': '' } },
    },
  },
  'docs/policies-and-profiles.md': { commands: { 'npx host-tools explain': name } },
  'docs/recipes.md': {
    files: {
      ...tools,
      'my-tools/greet.mjs': fenceOf('docs/recipes.md', 'my-tools/greet.mjs'),
      'my-tools/tools.yaml': fenceOf('docs/recipes.md', 'my-tools/tools.yaml'),
    },
    commands: {
      'npx -y host-tools list --host-tools /home/ann/my-tools/tools.yaml': {
        instead: { '/home/ann/': '' },
        says: /^greet/m,
      },
      'cd /home/ann/my-tools': { instead: { '/home/ann/': '' } },
      'npx host-tools init my-tools': { says: /Next:/ },
      [`npx host-tools explain read_file --host-tools tools.yaml --input '{"path":"prod.env"}'`]: {
        files: {
          'tools.yaml':
            'tools:\n  - { name: read_file, description: Reads., module: ./tools.mjs, parameters: { type: object } }\n',
        },
        says: /would run/,
      },
      'npx host-tools list --host-tools tools.yaml --profile writer': { says: /Hidden/ },
      'npx host-tools inspect --host-tools tools.yaml --allow-calls': { until: listening },
      'NODE_OPTIONS=--experimental-vm-modules npx jest': 'Jest is not of this package',
    },
  },
  'docs/relay-deployment.md': {
    commands: Object.fromEntries(
      [
        'docker build --tag relay .',
        'docker run --read-only --cap-drop ALL --stop-timeout 30 --env RELAY_KEY --env REDIS_URL --publish 127.0.0.1:4040:4040 relay --store REDIS_URL',
      ].map((command) => [command, 'Docker; test/package.test.ts runs what the image runs']),
    ),
  },
  'docs/relay.md': {
    isOneWalk: true,
    files: { 'relay.mts': programOf('docs/relay.md') },
    commands: { 'npx tsx relay.mts': {} },
  },
  'docs/sandboxes.md': { commands: { 'npx host-tools list': name } },
  'docs/schemas.md': {
    isOneWalk: true,
    files: { 'app.js': "import 'host-tools/mcp';\nimport 'host-tools/relay';\n" },
    commands: {
      [`npx esbuild app.js --bundle --platform=node --format=esm --outfile=dist/app.mjs \\
  '--external:@modelcontextprotocol/*' --external:ws`]: {
        before: ({ run }) => run('npm install host-tools').then(() => {}),
        says: /dist\/app\.mjs/,
      },
    },
  },
  'docs/stores.md': {
    commands: {
      'npm install host-tools better-sqlite3@12':
        'it compiles a program, and only Node 20 needs it',
      [`npx host-tools store copy sqlite:./state.db ${redis}`]: {
        before: ({ run }) => run('mkdir -m 700 approvals').then(() => {}),
        instead: { 'sqlite:./state.db': 'file:./approvals' },
        says: /0 waiting approvals copied/,
      },
    },
  },
  'docs/validating.md': {
    isOneWalk: true,
    files: {
      ...tools,
      'dist/notes.js': 'export default [];\n',
      'host-tools.yaml': tools['tools.yaml'],
      'profiles.yaml': 'profiles:\n  reader: { tools: [greet] }\n',
      'tools.js':
        "import { defineTool } from 'host-tools';\nexport const greet = defineTool({ name: 'greet', description: 'Greets.', parameters: { type: 'object' }, handler: () => 'hi' });\n",
      'package.json': '{ "type": "module" }',
    },
    commands: {
      'npx host-tools validate dist/notes.js host-tools.yaml': {
        before: ({ run }) => run('npm install host-tools').then(() => {}),
        exit: 1,
        says: /passed host-tools\.yaml/,
      },
      'npx host-tools validate profiles.yaml --host-tools-module ./tools.js': {
        says: /passed profiles\.yaml/,
      },
    },
  },
  'docs/workflow.md': { commands: { 'npx host-tools replay FILE': 'FILE stands for any file' } },
};
