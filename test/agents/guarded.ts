/** A home with a real coding agent, a guard that `hook install` has put there, and a scripted model. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ProgramName } from './programs.ts';
import { type AgentEnd, prepareHome, runAgent } from './run-agent.ts';
import { type ScriptedCall, type Scripts, startScriptedModel } from './scripted-model.ts';

/** The command of the built package. */
export const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** What differs between the programs. */
export interface Kind {
  /** The agent's name for `host-tools hook`. */
  readonly agent: keyof typeof settings;
  /** The call with which its model runs a command line, in a folder if one is given. */
  shell(command: string, folder?: string): ScriptedCall;
  /** The call with which its model writes a file. */
  write(path: string, content: string): ScriptedCall;
  /** The call with which its model starts another agent that follows a script. */
  delegate(script: string): ScriptedCall;
  /** The name of a tool of an MCP server. */
  mcpTool(server: string, tool: string): Pick<ScriptedCall, 'name' | 'namespace'>;
  /** Its settings for an MCP server: a file in `HOME`, and what is added there. */
  server(name: string, command: readonly string[]): readonly [file: string, text: string | object];
  /** Words of its command line with which it asks no person. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const claude: Kind = {
  agent: 'claude-code',
  shell: (command, folder) => ({
    name: 'Bash',
    input: {
      command: folder === undefined ? command : `cd ${folder} && ${command}`,
      description: 'Runs it.',
    },
  }),
  write: (file_path, content) => ({ name: 'Write', input: { file_path, content } }),
  delegate: (script) => ({
    name: 'Agent',
    input: {
      ...{ description: 'Helps.', prompt: `[[script:${script}]] Go on.` },
      subagent_type: 'general-purpose',
    },
  }),
  mcpTool: (server, tool) => ({ name: `mcp__${server}__${tool}` }),
  server: (name, [command, ...args]) => [
    '.claude.json',
    { mcpServers: { [name]: { type: 'stdio', command, args } } },
  ],
  args: ['--permission-mode', 'bypassPermissions'],
  // By default it begins after five seconds, with the servers that are there by then.
  env: { MCP_CONNECTION_NONBLOCKING: '0', MCP_CONNECT_TIMEOUT_MS: '120000' },
};

export const kinds: Readonly<Record<ProgramName, Kind>> = {
  'claude-code': claude,
  'claude-code, older': claude,
  codex: {
    agent: 'codex',
    shell: (cmd, workdir) => ({ name: 'exec_command', input: { cmd, workdir } }),
    write: (path, content) => ({
      name: 'apply_patch',
      input: {
        $text: [
          '*** Begin Patch',
          ...(existsSync(path) ? [`*** Delete File: ${path}`] : []),
          `*** Add File: ${path}`,
          ...content.split('\n').map((line) => `+${line}`),
          '*** End Patch',
          '',
        ].join('\n'),
      },
    }),
    delegate: (script) => ({
      namespace: 'multi_agent_v1',
      name: 'spawn_agent',
      input: { message: `[[script:${script}]] Go on.` },
    }),
    mcpTool: (server, name) => ({ namespace: `mcp__${server}`, name }),
    server: (name, [command, ...args]) => [
      '.codex/config.toml',
      // Codex begins without a server that is slow to start, unless it is required.
      `\n[mcp_servers.${name}]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\nrequired = true\nstartup_timeout_sec = 120\n`,
    ],
    args: ['-s', 'danger-full-access'],
  },
  'gemini-cli': {
    agent: 'gemini-cli',
    shell: (command, dir_path) => ({
      name: 'run_shell_command',
      input: { command, ...(dir_path === undefined ? {} : { dir_path }) },
    }),
    write: (file_path, content) => ({ name: 'write_file', input: { file_path, content } }),
    delegate: (script) => ({
      name: 'invoke_agent',
      input: { agent_name: 'generalist', prompt: `[[script:${script}]] Go on.` },
    }),
    mcpTool: (server, tool) => ({ name: `mcp_${server}_${tool}` }),
    server: (name, [command, ...args]) => [
      '.gemini/settings.json',
      { mcpServers: { [name]: { command, args, trust: true } } },
    ],
    args: ['--approval-mode', 'yolo'],
    // It runs no hook in a folder that is not trusted.
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  },
  'copilot-cli': {
    agent: 'copilot-cli',
    shell: (command, folder) => ({
      name: 'bash',
      input: {
        command: folder === undefined ? command : `cd ${folder} && ${command}`,
        description: 'Runs it.',
      },
    }),
    write: (path, file_text) => ({ name: 'create', input: { path, file_text } }),
    delegate: (script) => ({
      name: 'task',
      input: {
        ...{ name: 'helper', description: 'Helps.', agent_type: 'general-purpose' },
        ...{ prompt: `[[script:${script}]] Go on.`, mode: 'sync' },
      },
    }),
    mcpTool: (server, tool) => ({ name: `${server}-${tool}` }),
    server: (name, [command, ...args]) => [
      '.copilot/mcp-config.json',
      { mcpServers: { [name]: { type: 'local', command, args, tools: ['*'] } } },
    ],
    args: ['--allow-all-tools'],
  },
  opencode: {
    agent: 'opencode',
    shell: (command, workdir) => ({
      name: 'bash',
      input: { command, description: 'Runs it.', ...(workdir === undefined ? {} : { workdir }) },
    }),
    write: (filePath, content) => ({ name: 'write', input: { filePath, content } }),
    delegate: (script) => ({
      name: 'task',
      input: {
        ...{ description: 'Helps.', subagent_type: 'general' },
        prompt: `[[script:${script}]] Go on.`,
      },
    }),
    mcpTool: (server, tool) => ({ name: `${server}_${tool}` }),
    server: (name, command) => [
      '.config/opencode/opencode.json',
      { mcp: { [name]: { type: 'local', command } } },
    ],
    args: [],
  },
  'qwen-code': {
    agent: 'qwen-code',
    shell: (command, directory) => ({
      name: 'run_shell_command',
      input: { command, is_background: false, ...(directory === undefined ? {} : { directory }) },
    }),
    write: (file_path, content) => ({ name: 'write_file', input: { file_path, content } }),
    delegate: (script) => ({
      name: 'agent',
      input: {
        ...{ description: 'Helps.', prompt: `[[script:${script}]] Go on.` },
        ...{ subagent_type: 'general-purpose', run_in_background: false },
      },
    }),
    mcpTool: (server, tool) => ({ name: `mcp__${server}__${tool}` }),
    server: (name, [command, ...args]) => [
      '.qwen/settings.json',
      { mcpServers: { [name]: { command, args, trust: true } } },
    ],
    args: ['--approval-mode', 'yolo'],
  },
};

/** The files in which the agents have their hooks. */
const settings = {
  'claude-code': '.claude/settings.json',
  codex: '.codex/hooks.json',
  'gemini-cli': '.gemini/settings.json',
  'copilot-cli': '.copilot/hooks/host-tools.json',
  opencode: '.config/opencode/plugin/host-tools.js',
  'qwen-code': '.qwen/settings.json',
} as const;

export interface Guarded {
  readonly kind: Kind;
  readonly home: string;
  /** The path of what lies in the home. */
  at(path: string): string;
  has(path: string): boolean;
  read(path: string): string;
  write(path: string, content: string): void;
  /** The path of a file of the guard. */
  guard(file: string): string;
  /** The path of the agent's own settings, which name the hook. */
  readonly settings: string;
  /** Runs `host-tools`, with the agent in `PATH`. */
  cli(...args: readonly string[]): { readonly exit: number | null; readonly text: string };
  /** Runs the agent until it has nothing more to do. */
  run(scripts: Scripts, how?: RunHow): Promise<RunEnd>;
  /** The lines of the guard's audit log. */
  audit(): readonly Record<string, unknown>[];
}

export interface RunHow {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Words of `host-tools` that start the agent. */
  readonly by?: readonly string[];
  /** @default `project` in the home */
  readonly folder?: string;
  /** What the user writes after the name of the script, or a command that begins with a slash. */
  readonly prompt?: string;
}

export interface RunEnd extends AgentEnd {
  /** The results of the calls of a script, as its model read them. */
  results(script?: string): readonly string[];
}

/**
 * Sets up the agent with a guard, as a person does it.
 * @param rules The text of the file.
 * @param later Takes the work of removing it.
 * @param given Changes the home before the guard is installed.
 */
export async function guarded(
  program: ProgramName,
  bin: string,
  rules: string,
  later: (remove: () => void) => void,
  given: (home: Omit<Guarded, 'run'>) => void = () => {},
): Promise<Guarded> {
  const kind = kinds[program];
  const home = mkdtempSync(join(tmpdir(), 'host-tools-agent-'));
  later(() => rmSync(home, { recursive: true, force: true }));
  const path = `${dirname(bin)}${delimiter}${process.env.PATH}`;
  const at = (name: string): string => join(home, name);
  const parts: Omit<Guarded, 'run'> = {
    kind,
    home,
    at,
    has: (name) => existsSync(at(name)),
    read: (name) => readFileSync(at(name), 'utf8'),
    write(name, content) {
      mkdirSync(dirname(at(name)), { recursive: true });
      writeFileSync(at(name), content);
    },
    guard: (file) => at(`.config/host-tools/guard/${kind.agent}/${file}`),
    settings: at(settings[kind.agent]),
    cli(...args) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], {
        cwd: at('project'),
        env: { PATH: path, HOME: home, IS_SANDBOX: '1', ...kind.env },
        encoding: 'utf8',
      });
      return { exit: status, text: stdout + stderr };
    },
    audit() {
      const log = parts.guard('audit.jsonl');
      const text = existsSync(log) ? readFileSync(log, 'utf8').trim() : '';
      return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line));
    },
  };
  parts.write('project/.env', 'TOKEN=not-for-the-model\n');
  parts.write('rules.yaml', rules);
  // The address is known only when the model runs.
  prepareHome(program, home, 'http://127.0.0.1:9');
  given(parts);
  const { exit, text } = parts.cli('hook', 'install', kind.agent, '--rules', at('rules.yaml'));
  if (exit !== 0) throw new Error(text);
  if (kind.agent === 'codex') await trustHooks(bin, home, at('project'));
  return {
    ...parts,
    async run(
      scripts,
      { args = kind.args, env = {}, by, folder = at('project'), prompt = 'Go on.' } = {},
    ) {
      const model = await startScriptedModel(scripts);
      try {
        if (program === 'codex')
          parts.write(
            '.codex/config.toml',
            parts
              .read('.codex/config.toml')
              .replace(/base_url = ".*"/, `base_url = "${model.url}/v1"`),
          );
        const end = await runAgent({
          ...{ program, bin, model: model.url, home, project: folder, args },
          env: { ...kind.env, ...env },
          ...(by === undefined ? {} : { before: [process.execPath, cli, ...by] }),
          prompt: prompt.startsWith('/') ? prompt : `[[script:main]] ${prompt}`,
        });
        return { ...end, results: (script = 'main') => model.results(script) };
      } finally {
        await model.close();
      }
    },
  };
}

/** Trusts the hooks of Codex, as a person does with `/hooks`. */
async function trustHooks(bin: string, home: string, folder: string): Promise<void> {
  const server = spawn(bin, ['app-server'], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: home },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const [list] = await talk(server, 'hooks/list', { cwds: [folder] });
  const value = Object.fromEntries(
    (list as { hooks: { key: string; currentHash: string }[] }).hooks.map(
      ({ key, currentHash }) => [key, { trusted_hash: currentHash }],
    ),
  );
  const edit = { keyPath: 'hooks.state', value, mergeStrategy: 'upsert' };
  await talk(server, 'config/batchWrite', { edits: [edit] });
  server.kill();
  await once(server, 'close');
}

let lastId = 0;

/** Sends a request to the server, and returns the list in its answer. */
async function talk(server: ChildProcess, method: string, params: object): Promise<unknown[]> {
  const { stdin, stdout } = server as ChildProcess & {
    stdin: NodeJS.WritableStream;
    stdout: NodeJS.ReadableStream;
  };
  const send = (message: object): unknown => stdin.write(`${JSON.stringify(message)}\n`);
  const answered = async (id: number): Promise<unknown[]> => {
    const lines = createInterface({ input: stdout });
    for await (const line of lines) {
      const message = JSON.parse(line) as { id?: number; result?: { data?: unknown[] } };
      if (message.id !== id) continue;
      lines.close();
      return message.result?.data ?? [];
    }
    throw new Error('The server has ended.');
  };
  if (lastId === 0 || server.listenerCount('exit') === 0) {
    server.once('exit', () => {});
    send({
      id: ++lastId,
      method: 'initialize',
      params: { clientInfo: { name: 'x', version: '1' } },
    });
    await answered(lastId);
    send({ method: 'initialized' });
  }
  send({ id: ++lastId, method, params });
  return answered(lastId);
}
