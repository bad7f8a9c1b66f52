/** `call`: calls a tool, through the same checks as an agent's call. */
import type { ApprovalAnswer, ApprovalRequest, Approver, ToolSession } from '../core.ts';
import { approvalInput, shortLine, unshowableInput } from '../surfaces/shared/approval-input.ts';
import { shownOrigins } from '../values/text/question-words.ts';
import type { CliIo } from './cli-io.ts';
import { type Command, worldOptions } from './command.ts';
import { columns, jsonText, printable } from './printable.ts';
import { discardTyped, readInput, readLine } from './read-text.ts';
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
  keeps: true,
  async run({ io, screen, options, operands: [name = ''], world }) {
    // This happens before any module runs.
    const input = await readInput(options.input, io);
    const loaded = await world();
    loaded.requireRules();
    const usedStdin = options.input === '-' || options.session.facts === '-';
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

// Asks for an approval on the terminal. Everything that is shown is escaped, so a tool or a model
// cannot draw on the screen or fake a part of the question.

/**
 * Asks one question at a time. Any answer other than `y` or `yes` rejects the call. Undefined
 * without a terminal, because then no one can be asked and the call is refused.
 */
function terminalApprover(io: CliIo, screen: Screen): Approver | undefined {
  const { stdin, stderr } = io;
  if (stdin.isTTY !== true || stderr.isTTY !== true) return undefined;
  let last: Promise<unknown> = Promise.resolve();
  return (request, { signal }) => {
    const answer = last.then(() => askOne(request, signal, stdin, screen));
    last = answer.catch(() => {});
    return answer;
  };
}

async function askOne(
  request: ApprovalRequest,
  signal: AbortSignal,
  stdin: CliIo['stdin'],
  screen: Screen,
): Promise<ApprovalAnswer> {
  if (signal.aborted) return 'reject_once';
  const input = approvalInput(request.input);
  if (input === undefined) {
    screen.note(
      `\`${request.tool.name}\` needs an approval and was refused without a question. ` +
        `${unshowableInput}`,
    );
    return { decision: 'reject_once', message: unshowableInput };
  }
  await discardTyped(stdin, signal);
  if (signal.aborted) return 'reject_once';
  const release = screen.ask(questionOf(request, input, screen));
  let broken = false;
  try {
    const line = await readLine(stdin, signal);
    // After an entered line, the terminal has already moved to the next one.
    broken = line !== undefined;
    return line !== undefined && /^\s*y(?:es)?\s*$/i.test(line) ? 'allow_once' : 'reject_once';
  } finally {
    release(broken);
  }
}

/** The question comes last, so that it is below an input of any length. */
function questionOf(request: ApprovalRequest, input: string, screen: Screen): string {
  const { title, risk, tool, ruleId, source, hiddenFields } = request;
  const { message, origins } = shownOrigins(request);
  const rows: (readonly [string, string])[] = [
    ['tool', `${printable(tool.name)} (from ${printable(tool.source)})`],
  ];
  if (message !== undefined) rows.push(['message', printable(shortLine(message))]);
  for (const [index, sentence] of origins.entries())
    rows.push([index === 0 ? 'origins' : '', printable(shortLine(sentence))]);
  if (risk !== undefined) rows.push(['risk', risk]);
  rows.push(['asked by', printable(ruleId === undefined ? source : `${ruleId} (${source})`)]);
  if (hiddenFields.length > 0) rows.push(['hidden', printable(shortLine(hiddenFields.join(', ')))]);
  return [
    `Approval needed: ${screen.strong(printable(shortLine(title)))}`,
    ...columns(rows, '  '),
    `  input ${input.replaceAll('\n', '\n  ')}`,
    `Allow \`${printable(tool.name)}\` to run once with this input? [y/N] `,
  ].join('\n');
}
