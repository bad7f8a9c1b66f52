/** Reads the texts of a question. */

import type { Approvers } from '../../api/answers.ts';
import type { ApprovalPrompt } from '../../api/approval.ts';
import { copyJson, deepFreeze } from '../../values/json/index.ts';
import { misspeltIn } from './request.ts';

const noPrompt = { title: undefined, message: undefined, risk: undefined, approvers: undefined };

/** Reads an approval prompt exactly. Undefined if it is not one. */
export function readPrompt(value: unknown): ApprovalPrompt | undefined {
  if (typeof value !== 'object' || value === null || misspeltIn(value, noPrompt) !== undefined)
    return undefined;
  // Own members only: a member of `Object.prototype` is not part of the prompt.
  const { title, message, risk, approvers } = { ...noPrompt, ...value } as Record<string, unknown>;
  if (
    typeof title !== 'string' ||
    title === '' ||
    (message !== undefined && typeof message !== 'string')
  )
    return undefined;
  if (risk !== undefined && risk !== 'low' && risk !== 'medium' && risk !== 'high')
    return undefined;
  // The part that knows them checks them.
  const named = copyJson(approvers ?? {}, { maxDepth: 4, maxValues: 200 });
  if (!named.ok) return undefined;
  return deepFreeze({
    title,
    ...(message === undefined ? {} : { message }),
    ...(risk === undefined ? {} : { risk }),
    ...(approvers === undefined ? {} : { approvers: named.value as object as Approvers }),
  });
}
