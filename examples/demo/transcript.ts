import { serializeOutput, type ToolResult } from '../../src/index.ts';
import type { Act, Step } from './script.ts';
import { firstLines, oneLine, type Paint, table } from './terminal.ts';

/** One call as it went; `asked` is what a person was shown and said. */
export interface Played {
  readonly profile: Act['profile'];
  readonly step: Step;
  readonly result: ToolResult;
  readonly asked?: string | undefined;
  readonly asExpected: boolean;
}

const PREVIEW_LINES = 3;

/** A result in the words of {@link Step.expect}. */
export function outcomeOf(result: ToolResult): string {
  if (result.success) return result.metadata.truncated === undefined ? 'ok' : 'cut';
  const { code, reason } = result.error;
  return reason === undefined || reason === code ? code : `${code} ${reason}`;
}

/** The lines of one call: what was wanted, what was asked, what came. */
export function callLines(
  { step, result, asked, asExpected }: Played,
  number: number,
  width: number,
  paint: Paint,
): string[] {
  const outcome = outcomeOf(result);
  const refused = result.metadata.status === 'rejected';
  const mark = result.success
    ? paint('green', '✓')
    : refused
      ? paint('yellow', '⊘')
      : paint('red', '✗');
  const said = result.success
    ? firstLines(serializeOutput(result), PREVIEW_LINES, width - 6)
    : [oneLine(result.error.message, width - 6)];
  const size =
    result.metadata.truncated === undefined
      ? ''
      : ` of ${result.metadata.truncated.originalChars} characters`;
  return [
    `${String(number).padStart(3)}  ${paint('bold', step.note)}`,
    `     ${oneLine(`${step.tool} ${JSON.stringify(step.input)}`, width - 5)}`,
    ...(asked === undefined ? [] : [`     ${paint('cyan', '?')} ${oneLine(asked, width - 7)}`]),
    `     ${mark} ${outcome}${size} ` +
      `${paint('dim', `${Math.round(result.metadata.durationMs)} ms`)}`,
    ...said.map((line) => `       ${paint('dim', line)}`),
    ...(asExpected ? [] : [`     ${paint('red', `! expected: ${step.expect}`)}`]),
  ];
}

/** The closing table, and how often each reason for a refusal came. */
export function summaryLines(played: readonly Played[], paint: Paint): string[] {
  const rows = played.map(({ profile, step, result }, index) => {
    const [code = '', reason = ''] = result.success ? [] : outcomeOf(result).split(' ');
    const ms = String(Math.round(result.metadata.durationMs));
    return [String(index + 1), profile, subject(step), result.metadata.status, code, reason, ms];
  });
  const [heading = '', rule = '', ...lines] = table(
    ['#', 'profile', 'call', 'status', 'code', 'reason', 'ms'],
    rows,
  );
  const denied = new Map<string, number>();
  for (const { result } of played)
    if (result.error?.code === 'policy_denied')
      denied.set(result.error.reason ?? '', (denied.get(result.error.reason ?? '') ?? 0) + 1);
  const reasons = [...denied]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([reason, count]) => `${reason} ${count}`);
  return [
    paint('bold', heading),
    paint('dim', rule),
    ...lines,
    '',
    `Denied by policy: ${reasons.join(', ')}`,
  ];
}

function subject({ tool, input }: Step): string {
  const { action, path, target } = input as { action?: string; path?: string; target?: string };
  return oneLine(`${tool} ${action ?? path ?? target ?? ''}`, 34);
}
