/** `call`: calls a tool, through the same checks as an agent's call. */
import type { ToolSession } from '../core.ts';
import { terminalApprover } from './approver.ts';
import { type Command, worldOptions } from './command.ts';
import { jsonText } from './printable.ts';
import { readInput } from './read-json.ts';
import type { Screen } from './screen.ts';

export const call: Command = {
  name: 'call',
  usage: 'NAME [--input JSON|@FILE|-]',
  summary: 'call a tool and print its result',
  notes: [
    'The result is JSON, on several lines, or on one line with --json. The exit code is 0 if the ' +
      'call succeeded, and 1 otherwise.',
    'If standard input and standard error are a terminal, approvals are asked there. Otherwise ' +
      'they are refused.',
    'Ctrl-C cancels the call. A second one ends the process at once.',
  ],
  options: [...worldOptions, 'input', 'timeout-ms'],
  operands: ['NAME'],
  gateway: { records: true },
  async run({ io, screen, options, operands: [name = ''], world }) {
    // This happens before any module runs.
    const input = await readInput(options.input, io);
    const loaded = await world();
    loaded.requireRules();
    const usedStdin = options.input === '-' || options.facts === '-';
    const approver = usedStdin ? undefined : terminalApprover(io, screen);
    const session = loaded.session({ approver });
    watch(session, screen, approver !== undefined, usedStdin);
    const result = await session.call(name, input, {
      signal: io.signal,
      timeoutMs: options.timeoutMs,
      surface: { name: 'cli' },
    });
    screen.clear();
    const unknown = loaded.unknownTool(name);
    if (unknown !== undefined) screen.note(unknown);
    return { exit: result.success ? 0 : 1, text: jsonText(result, 2), json: result };
  },
};

/** Shows progress, logs, and approvals that are refused because there is no terminal. */
function watch(session: ToolSession, screen: Screen, asks: boolean, usedStdin: boolean): void {
  session.events.on('tool:progress', ({ toolName, done, total, message }) =>
    screen.progress({ tool: toolName, done, total, message }),
  );
  session.events.on('tool:event', ({ toolName, name, data }) => {
    if (name !== 'log' || typeof data !== 'object' || data === null) return;
    const { level, data: said } = data as { level?: unknown; data?: unknown };
    screen.note(
      `${String(level)}: ${toolName}: ${typeof said === 'string' ? said : jsonText(said)}`,
    );
  });
  if (asks) return;
  session.events.on('approval:required', ({ request: { tool, title } }) => {
    const remedy = usedStdin
      ? 'Standard input was taken by `--input -` or `--facts -`. Give JSON or `@file` instead, ' +
        'on a terminal.'
      : 'Run it on a terminal to be asked.';
    screen.note(
      `\`${tool.name}\` needs an approval ("${title}"), but there is no terminal to ask on, so ` +
        `it was refused. ${remedy}`,
    );
  });
}
