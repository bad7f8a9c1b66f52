/** An approval as an elicitation: the form for the client's user, and the meaning of the answer. */
import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import { sanitizeText } from '../../../core/serialize.ts';
import type { ApprovalAnswer, ApprovalChoice, ApprovalRequest } from '../../../core.ts';
import { shownOrigins } from '../../../values/text/told-origins.ts';
import { approvalInput, shortLine, unshowableInput } from '../../shared/approval-input.ts';

/** The key of the question among the inputs that a result asks for. */
export const approvalKey = 'approval';

const choices: readonly (readonly [ApprovalChoice, string])[] = [
  ['allow_once', 'Allow this call'],
  ['reject_once', 'Reject this call'],
  ['allow_always', 'Allow this call, and the same call later in this session'],
  ['reject_always', 'Reject this call, and the same call later in this session'],
];

/** The answer for a user who cannot be shown what would run. */
export const unshowable: ApprovalAnswer = Object.freeze({
  decision: 'reject_once',
  message: unshowableInput,
});

/**
 * The form; undefined if the input cannot be shown, so that the call must not be allowed.
 * @param always offers answers for later calls too. True only if no other client shares the
 * session.
 */
export function approvalForm(
  request: ApprovalRequest,
  always: boolean,
): ElicitRequestFormParams | undefined {
  const input = approvalInput(request.input);
  if (input === undefined) return undefined;
  const offered = always ? choices : choices.slice(0, 2);
  return {
    message: messageOf(request, input),
    requestedSchema: {
      type: 'object',
      properties: {
        decision: {
          type: 'string',
          title: 'Decision',
          description: `Whether ${shown(request.tool.name)} may run with this input.`,
          oneOf: offered.map(([value, title]) => ({ const: value, title })),
        },
      },
      required: ['decision'],
    },
  };
}

/** The user's choice. Anything but an offered choice counts as a rejection. */
export function approvalAnswer(result: unknown, always: boolean): ApprovalChoice {
  if (typeof result !== 'object' || result === null) return 'reject_once';
  // Only own members count: no user has answered what is inherited.
  const { action, content }: { action?: unknown; content?: unknown } = {
    action: undefined,
    content: undefined,
    ...result,
  };
  if (action !== 'accept' || typeof content !== 'object' || content === null) return 'reject_once';
  const decision: unknown = Object.hasOwn(content, 'decision')
    ? (content as { decision?: unknown }).decision
    : undefined;
  return (
    (always ? choices : choices.slice(0, 2)).find(([value]) => value === decision)?.[0] ??
    'reject_once'
  );
}

function messageOf(request: ApprovalRequest, input: string): string {
  const { title, risk, tool, source, ruleId, hiddenFields } = request;
  const { message, origins } = shownOrigins(request);
  const lines = [
    shown(title),
    ...(message === undefined ? [] : [shown(message)]),
    ...origins.map((sentence) => `Origin: ${shown(sentence)}`),
    `Tool: ${shown(tool.name)} (from ${shown(tool.source)})`,
    ...(risk === undefined ? [] : [`Risk: ${risk}`]),
    `Asked by: ${shown(ruleId === undefined ? source : `${ruleId} (${source})`)}`,
    ...(hiddenFields.length === 0 ? [] : [`Hidden: ${shown(hiddenFields.join(', '))}`]),
    `Input: ${input}`,
  ];
  return lines.join('\n');
}

/** Puts a text on one line, so that it cannot imitate another line of the form. */
function shown(text: string): string {
  return sanitizeText(shortLine(text))
    .replaceAll(
      /(?!\ufe0f)[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu,
      '\u{fffd}',
    )
    .replaceAll(/\s+/gu, ' ');
}
