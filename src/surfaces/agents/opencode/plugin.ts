/** The plugin that `hook install opencode` writes. opencode runs it in its own process. */
import { hookSeconds } from '../claude-code/claude-code.ts';

const text = `// Installed by \`npx host-tools hook install opencode\`.
// It asks the hook before each tool.
import { spawn } from 'node:child_process';

const command = COMMAND;

function answerTo(event) {
  return new Promise((resolve, reject) => {
    const failed = 'host-tools: The hook failed. The call is blocked.';
    const fail = (why) => reject(new Error(why || failed));
    const child = spawn('sh', ['-c', command], { cwd: event.cwd, stdio: 'pipe' });
    const texts = { stdout: '', stderr: '' };
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail('host-tools: The hook took too long. The call is blocked.');
    }, ${hookSeconds * 1_000});
    for (const name of ['stdout', 'stderr'])
      child[name].setEncoding('utf8').on('data', (text) => {
        texts[name] += text;
      });
    child.on('error', (error) => fail(error.message));
    child.on('close', (code) => {
      clearTimeout(timer);
      if (code !== 0) fail(texts.stderr.trim());
      else resolve(texts.stdout);
    });
    child.stdin.on('error', () => {});
    child.stdin.end(JSON.stringify(event));
  });
}

async function judge(event) {
  const answer = JSON.parse(await answerTo(event));
  if (answer.decision !== undefined) throw new Error(String(answer.reason));
}

export const HostTools = async ({ client, directory }) => {
  const send = (hook_event_name, sessionID, more) =>
    judge({ hook_event_name, session_id: sessionID, cwd: directory, ...more });
  const call = ({ tool, callID }, args) => ({
    tool_name: tool,
    tool_use_id: callID,
    tool_input: args,
  });
  return {
    'tool.execute.before': (input, output) =>
      send('PreToolUse', input.sessionID, call(input, output.args)),
    'tool.execute.after': async (input, output) => {
      // The call has run, whatever the hook says.
      await send('PostToolUse', input.sessionID, {
        ...call(input, input.args),
        tool_response: { output: output?.output, metadata: output?.metadata },
      }).catch(() => {});
    },
    'chat.message': async ({ sessionID }, { parts }) => {
      const said = parts.filter((part) => part.type === 'text' && !part.synthetic);
      const prompt = said.map((part) => part.text).join('\\n');
      // A model writes the prompts of other agents.
      const { data } = await client.session.get({ path: { id: sessionID } });
      const source = data !== undefined && data.parentID === undefined ? 'user' : 'agent';
      if (prompt !== '') await send('UserPromptSubmit', sessionID, { prompt, source });
    },
  };
};
`;
/** Its text. What it throws before a tool blocks the call, and the model reads it. */
export function opencodePlugin(command: string): string {
  return text.replace('COMMAND', () => JSON.stringify(command));
}
