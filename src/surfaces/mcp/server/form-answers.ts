/** The answers of clients to what a call asks, checked against the question. */
import { describe } from '../../../values/errors/index.ts';
import { isJsonObject, type JsonValue } from '../../../values/json/index.ts';
import { cleanLine } from '../../shared/outside-text.ts';

/** What a client is asked: a request of the protocol. */
export type Question = {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
};

const actions: ReadonlySet<unknown> = new Set(['accept', 'decline', 'cancel']);

type Forms = typeof import('./form-schema.ts');
let forms: Forms | undefined;

/** Loads what checks forms. Awaited before a question is asked, or an answer is checked. */
export async function loadForms(): Promise<Forms> {
  forms ??= await import('./form-schema.ts');
  return forms;
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
  const [issue] = (forms as Forms).compileForm(form).validate(content, false) ?? [];
  if (issue === undefined) return undefined;
  const { path, message } = issue;
  return cleanLine(`one whose \`content\` matches \`requestedSchema\`: ${path} ${message}`, 500);
}
