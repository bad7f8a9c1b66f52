/**
 * Questions that a server asks while it works. They are passed on to the client whose call is in
 * flight.
 */
import { type JsonObject, type JsonSchema, MisuseError, type ToolContext } from '../../core.ts';
import { copyJson, isJsonObject, type JsonValue } from '../../values/json/index.ts';
import type { ServerQuestions } from '../mcp/client/link.ts';
import { cleanLine, cleanSchema, cleanText } from '../shared/outside-text.ts';
import type { NamedServer } from './server-connection.ts';

/** What a server may ask. */
export interface QuestionParts {
  /** The name of the server. */
  readonly name: string;
  readonly elicitation: boolean;
  readonly sampling: boolean;
  /** Removes values of the environment from every text of a value. */
  scrub(value: JsonValue): JsonValue;
}

/** The questions of one server, and its calls in flight. */
export interface Questions extends ServerQuestions {
  /** Records that a call is in flight. The returned function records its end. */
  began(context: ToolContext): () => void;
}

/** Most questions of one server that wait for an answer at the same time. */
const maxOpen = 4;
const maxOfMessage = 4_096;
const formBounds = { maxDepth: 16, maxValues: 2_000, maxChars: 65_536 } as const;
const sampleBounds = { maxDepth: 40, maxValues: 20_000, maxChars: 1_048_576 } as const;
/**
 * The members of a sampling request that are passed on. `includeContext` would reveal other
 * servers.
 */
const sampled = [
  'messages',
  'modelPreferences',
  'temperature',
  'maxTokens',
  'stopSequences',
  'metadata',
] as const;

/** Undefined for a server that may not ask anything. */
export function questionsOf({ name, entry, ports }: NamedServer): Questions | undefined {
  const allowed = entry.allow ?? [];
  if (allowed.length === 0) return undefined;
  return createQuestions({
    name,
    elicitation: allowed.includes('elicitation'),
    sampling: allowed.includes('sampling'),
    scrub: ports.scrubValue,
  });
}

export function createQuestions(parts: QuestionParts): Questions {
  const calls = new Set<ToolContext>();
  let open = 0;
  const counted = async (ask: () => Promise<JsonObject>): Promise<JsonObject> => {
    if (open >= maxOpen) throw refused('too many questions wait for an answer');
    open++;
    try {
      return await ask();
    } finally {
      open--;
    }
  };
  return {
    elicitation: parts.elicitation,
    sampling: parts.sampling,
    began(context) {
      calls.add(context);
      return () => void calls.delete(context);
    },
    async answer(method, params) {
      if (method === 'elicitation/create' && parts.elicitation)
        return counted(() => elicit(parts, clientOf(calls), params));
      if (method === 'sampling/createMessage' && parts.sampling)
        return counted(() => sample(parts, clientOf(calls), params));
      throw refused(`\`${cleanLine(method, 100)}\` is not allowed`);
    },
  };
}

/**
 * The client whose call is in flight. A server over stdio does not say to which call its question
 * belongs. If several sessions have calls in flight, no client is asked.
 */
function clientOf(calls: ReadonlySet<ToolContext>): NonNullable<ToolContext['client']> {
  const all = [...calls];
  const last = all.at(-1);
  if (last === undefined) throw refused('no call is in flight');
  if (all.some(({ sessionId }) => sessionId !== last.sessionId))
    throw refused('calls of several clients are in flight, so it is not clear whom to ask');
  if (last.client === undefined) throw refused('the client cannot be asked');
  return last.client;
}

async function elicit(
  { name, scrub }: QuestionParts,
  client: NonNullable<ToolContext['client']>,
  params: unknown,
): Promise<JsonObject> {
  if (client.elicit === undefined) throw refused('the client cannot ask its user');
  const { mode, message, requestedSchema } = read(params, formBounds);
  if (mode !== undefined && mode !== 'form') throw refused('only forms are passed on');
  if (!isJsonObject(requestedSchema)) throw refused('a form needs `requestedSchema`');
  const schema = scrub(cleanSchema(requestedSchema as JsonObject));
  if (!isJsonObject(schema)) throw refused('the question is too large');
  const answer = await client.elicit({
    message: `The MCP server \`${name}\` asks: ${shownText(message, scrub)}`,
    requestedSchema: schema as JsonSchema,
  });
  return answer as JsonObject;
}

async function sample(
  { name, scrub }: QuestionParts,
  client: NonNullable<ToolContext['client']>,
  params: unknown,
): Promise<JsonObject> {
  if (client.sample === undefined) throw refused('the client cannot ask its model');
  const given = read(params, sampleBounds);
  if (!Array.isArray(given.messages)) throw refused('a sampling request needs `messages`');
  const request: Record<string, JsonValue> = {};
  for (const member of sampled)
    if (Object.hasOwn(given, member)) request[member] = given[member] as JsonValue;
  const { systemPrompt } = given;
  const own = typeof systemPrompt === 'string' ? `\n\n${systemPrompt}` : '';
  request.systemPrompt = `This request comes from the MCP server \`${name}\`.${own}`;
  const scrubbed = scrub(request);
  if (!isJsonObject(scrubbed)) throw refused('the question is too large');
  return client.sample(scrubbed);
}

/** Cut last, because the search would not find the rest of a secret that was cut. */
function shownText(message: unknown, scrub: QuestionParts['scrub']): string {
  if (typeof message !== 'string') return '';
  const scrubbed = scrub(cleanText(message, 4 * formBounds.maxChars));
  return cleanText(String(scrubbed), maxOfMessage);
}

/** A private copy without a prototype, within bounds. */
function read(
  params: unknown,
  bounds: { readonly maxDepth: number; readonly maxValues: number; readonly maxChars: number },
): Readonly<Record<string, unknown>> {
  const copy = copyJson(params, bounds);
  if (!copy.ok || copy.overflow || !isJsonObject(copy.value))
    throw refused('the question is too large, or is not an object');
  return Object.assign(Object.create(null) as object, copy.value);
}

function refused(why: string): MisuseError {
  return new MisuseError('invalid_option', `The gateway does not pass this on: ${why}.`);
}
