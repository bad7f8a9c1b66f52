/** The answers of clients to what a call asks, checked against the question. */
import { describe } from '../../../values/errors/index.ts';
import { isJsonObject, type JsonValue } from '../../../values/json/index.ts';
import { compileSchema } from '../../../values/json-schema/compile.ts';
import { gateSchema } from '../../../values/json-schema/gate.ts';
import type { CompiledSchema } from '../../../values/schema/schema.ts';
import { cleanLine } from '../../shared/outside-text.ts';

/** What a client is asked: a request of the protocol. */
export type Question = {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
};

const actions: ReadonlySet<unknown> = new Set(['accept', 'decline', 'cancel']);

/**
 * The schema of a form. A gateway passes on forms of others, so it is bounded as theirs are.
 * @throws MisuseError `invalid_schema` for one beyond the limits
 */
export function compileForm(requestedSchema: unknown): CompiledSchema {
  return compileSchema(gateSchema(requestedSchema).schema, { trusted: false });
}

/** What an answer should have been; undefined if it is one to the question. */
export function expectedOf(
  { method, params }: Question,
  answer: JsonValue | undefined,
): string | undefined {
  if (!isJsonObject(answer)) return `an answer to ${method}, got ${describe(answer)}`;
  if (method !== 'elicitation/create') return undefined;
  const { action, content } = answer;
  if (!actions.has(action))
    return `one whose \`action\` is accept, decline or cancel, got ${describe(action)}`;
  if (content !== undefined && !isJsonObject(content))
    return `one whose \`content\` is an object, got ${describe(content)}`;
  return action === 'accept' ? mismatch(params.requestedSchema, content) : undefined;
}

/** How what a user has filled in differs from the form. */
function mismatch(form: unknown, content: JsonValue = {}): string | undefined {
  // A default belongs into the form that the user sees, not into an answer that nobody gave.
  const [issue] = compileForm(form).validate(content, false) ?? [];
  if (issue === undefined) return undefined;
  const { path, message } = issue;
  return cleanLine(`one whose \`content\` matches \`requestedSchema\`: ${path} ${message}`, 500);
}
