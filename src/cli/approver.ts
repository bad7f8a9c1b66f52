/**
 * Asks for an approval on the terminal. Everything that is shown is escaped, so a tool or a model
 * cannot draw on the screen or fake a part of the question.
 */

import type { ApprovalAnswer, ApprovalRequest, Approver } from '../core.ts';
import { approvalInput, shortLine, unshowableInput } from '../surfaces/shared/approval-input.ts';
import { shownOrigins } from '../values/text/told-origins.ts';
import type { CliIo } from './cli-io.ts';
import { columns, printable } from './printable.ts';
import { discardTyped, readLine } from './read-line.ts';
import type { Screen } from './screen.ts';

/**
 * Asks one question at a time. Any answer other than `y` or `yes` rejects the call. Undefined
 * without a terminal, because then no one can be asked and the call is refused.
 */
export function terminalApprover(io: CliIo, screen: Screen): Approver | undefined {
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
