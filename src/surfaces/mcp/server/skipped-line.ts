/**
 * Finds the id of the request in a line that is refused because it is too long or contains too
 * much, so that the client gets an answer.
 */
import { requestIdOf } from './message-form.ts';
import type { RpcId } from './rpc.ts';

/** Characters that are kept of each end. An id has at most 256. */
export const keptOfLine = 1_024;

const scalar = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/.source;
const member = `\\s*"(\\w+)"\\s*:\\s*(${scalar})\\s*`;
const firstMembers = new RegExp(`^\\s*\\{(?:${member},)*`);
const lastMembers = new RegExp(`(?:,${member})+\\}\\s*$`);

/**
 * The id of the request in a line, read from both of its ends; null if it cannot be found. A
 * message without a method is a response, and its id belongs to another request.
 */
export function idOfSkipped(beginning: string, end: string): RpcId | null {
  try {
    const members = new Map([
      ...membersIn(firstMembers.exec(beginning)?.[0] ?? ''),
      ...membersIn(lastMembers.exec(end)?.[0] ?? ''),
    ]);
    return requestIdOf({ id: members.get('id'), method: members.get('method') });
  } catch {
    // The text has an escape that JSON does not allow.
    return null;
  }
}

function membersIn(text: string): [string, unknown][] {
  return [...text.matchAll(new RegExp(member, 'g'))].map(([, name = '', value = '']) => [
    name,
    JSON.parse(value) as unknown,
  ]);
}
