/**
 * What can be known of a line that is not read because it is too long or holds too much: the id of
 * its request, so that the one who waits for an answer gets one.
 */
import { requestIdOf } from './message-form.ts';
import type { RpcId } from './rpc.ts';

/** Characters that are kept of each end. An id has 256 at most. */
export const keptOfLine = 1_024;

const scalar = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/.source;
const member = `\\s*"(\\w+)"\\s*:\\s*(${scalar})\\s*`;
const firstMembers = new RegExp(`^\\s*\\{(?:${member},)*`);
const lastMembers = new RegExp(`(?:,${member})+\\}\\s*$`);

/**
 * The id of the request in a line, from both of its ends; null where none can be told. A message
 * without a method is no request, and its id is another's.
 */
export function idOfSkipped(beginning: string, end: string): RpcId | null {
  try {
    const members = new Map([
      ...membersIn(firstMembers.exec(beginning)?.[0] ?? ''),
      ...membersIn(lastMembers.exec(end)?.[0] ?? ''),
    ]);
    return requestIdOf({ id: members.get('id'), method: members.get('method') });
  } catch {
    // An escape that JSON does not have.
    return null;
  }
}

function membersIn(text: string): [string, unknown][] {
  return [...text.matchAll(new RegExp(member, 'g'))].map(([, name = '', value = '']) => [
    name,
    JSON.parse(value) as unknown,
  ]);
}
