/** The tool with which a model finds the tools that it is not shown. */

import type { FoundTool, SearchOptions } from '../../api/session.ts';
import type { AnyTool } from '../../api/tool.ts';
import { idsInFlight } from '../../core/call/calls-in-flight.ts';
import { shownNameOf } from '../../core/call/shown.ts';
import { wholeRegistry } from '../../core/registry/registry-state.ts';
import { asksFor } from '../../core/session/bind-host-tool.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { defineTool } from '../../core/tool/define-tool.ts';
import { shownDescription } from '../../core/tool/deprecation.ts';
import { ToolEntry } from '../../core/tool/tool-entry.ts';
import { own } from '../../core/toolset/tool-spec.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import { deepFreeze, type JsonObject } from '../../values/json/index.ts';
import { readOptions, type TableOf, wholeNumber, withDefault } from '../../values/options/index.ts';
import { shownSchema } from '../../values/schema/to-json-schema.ts';
import {
  beginDiscovery,
  Discovery,
  type DiscoverySettings,
  type FoundEntry,
  findToolsName,
} from './discovery.ts';
import { findByMeaning, findTools, readTools } from './found-tools.ts';
import type { Hit } from './rank.ts';

// Finds tools by what they do, for hosts and for agents with more tools than a model should read.

/** The longest query, in characters, and the most tools of one answer. */
const longestQuery = 4_096;
const maxFound = 100;

const table = {
  limit: withDefault(wholeNumber(1, maxFound), 8),
} satisfies TableOf<SearchOptions>;

/** @throws MisuseError `invalid_option` */
export function searchTools(
  session: SessionState,
  query: unknown,
  options: SearchOptions | undefined,
): readonly FoundTool[] {
  const { limit } = readOptions('search', options, table);
  const wrong = wrongQuery(query);
  if (wrong !== undefined) throw new MisuseError('invalid_option', `search: \`query\`: ${wrong}.`);
  const found = findTools(session, query as string, limit).map((hit) =>
    describeFound(session, hit),
  );
  return deepFreeze(found.filter((tool) => tool !== undefined));
}

/**
 * The answer's entry for a found tool; undefined if it was removed or hidden after it was found.
 */
function describeFound(
  session: SessionState,
  { tool, score, why }: Hit<ToolEntry>,
): FoundTool | undefined {
  const { name, definition } = tool;
  const binding = session.binding(name);
  if (binding?.entry !== tool || binding.status.drop !== undefined) return undefined;
  const description = shownDescription(definition);
  return { name, description, score, requiresApproval: asksFor(binding), why };
}

/**
 * What is wrong with a query and how to correct it, for hosts and for models; undefined for a valid
 * query.
 */
function wrongQuery(query: unknown): string | undefined {
  const got =
    typeof query !== 'string'
      ? describe(query)
      : query.trim() === ''
        ? 'an empty text'
        : query.length > longestQuery
          ? `${query.length} characters`
          : undefined;
  return got === undefined
    ? undefined
    : `expected a text of at most ${longestQuery} characters that says what a tool should do, ` +
        `got ${got}. Describe the task in a few words`;
}

/** Lets a session list few tools, and `find_tools` for the others. @throws MisuseError */
export function discover(session: SessionState, settings: DiscoverySettings): void {
  const twin = session.registry.catalogue.twinOf(findToolsName);
  if (twin !== undefined && session.registry.catalogue.tools.get(twin)?.source === 'host')
    throw new MisuseError(
      'name_conflict',
      `createSession: \`discovery\` brings a tool with the name \`${findToolsName}\`, and the ` +
        `registry has \`${twin}\`. Rename your tool, or leave out \`discovery\`.`,
    );
  const definition = defineTool({
    name: findToolsName,
    description:
      'Finds tools by what they do. There are more tools than the ones you see. Say in a few ' +
      'words what you need; the tools that fit are listed from then on.',
    parameters: parameters as never,
    annotations: { readOnly: true },
    parallelSafe: true,
    // Descriptions of imported tools are written by others.
    origin: 'untrusted',
    handler: (input: unknown, { callId }) => find(session, discovery, input as Asked, callId),
  });
  // Discovery lists its tool itself, even if an imported tool has the same name.
  session.registry.ports.tools.own.set(definition as AnyTool, { isListed: () => false });
  const entry: ToolEntry = new ToolEntry(
    definition as AnyTool,
    'host',
    session.registry.waiting.graph,
  );
  const discovery: Discovery = new Discovery(settings, entry);
  beginDiscovery(session, discovery);
  session.stamp++;
  // Otherwise the first question would wait for this.
  void readTools(wholeRegistry(session.registry));
}

interface Asked {
  readonly query: string;
  readonly limit?: number;
}

/** What a model may ask. It is checked by hand, so that a refusal says what to do. */
const parameters = {
  '~standard': {
    version: 1,
    vendor: 'host-tools',
    validate: (value: unknown) => {
      const issues = faultsOf(value as JsonObject);
      return issues.length === 0 ? { value } : { issues };
    },
    jsonSchema: { input: () => schema, output: () => schema },
  },
};

const schema: JsonObject = {
  type: 'object',
  properties: {
    query: {
      type: 'string',
      minLength: 1,
      maxLength: longestQuery,
      description: 'What the tool should do, in a few words, such as "send an e-mail".',
    },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: maxFound,
      description: 'The most tools to return.',
    },
  },
  required: ['query'],
  additionalProperties: false,
};

/** @param input A JSON object, as the arguments of any call are. */
function faultsOf(input: JsonObject): { readonly message: string; readonly path: string[] }[] {
  const faults: { message: string; path: string[] }[] = [];
  for (const key of Object.keys(input))
    if (key !== 'query' && key !== 'limit') faults.push({ message: 'is unknown', path: [key] });
  const wrong = wrongQuery(own(input, 'query'));
  if (wrong !== undefined) faults.push({ message: wrong, path: ['query'] });
  const limit = own(input, 'limit') ?? 1;
  if (!Number.isInteger(limit) || (limit as number) < 1 || (limit as number) > maxFound)
    faults.push({ message: `must be a whole number from 1 to ${maxFound}`, path: ['limit'] });
  return faults;
}

/** Finds tools, and adds those whose schemas the model gets to the listed tools. */
async function find(
  session: SessionState,
  discovery: Discovery,
  { query, limit }: Asked,
  callId: string,
): Promise<JsonObject> {
  const call = idsInFlight(session).get(callId);
  const { embed, maxTokens, limit: most } = discovery.settings;
  const wanted = Math.min(limit ?? most, most);
  const reading = readTools(wholeRegistry(session.registry));
  if (reading !== undefined) await reading;
  const hits =
    embed === undefined
      ? findTools(session, query, wanted)
      : await findByMeaning(session, query, wanted, embed);
  const answers: Answer[] = [];
  const joining: FoundEntry[] = [];
  let left = maxTokens;
  for (const hit of hits) {
    const found = describeFound(session, hit);
    if (found === undefined) continue;
    const { description, requiresApproval } = found;
    // A model can only call a tool by the name under which it will be shown.
    const name = call === undefined ? found.name : shownNameOf(call, found.name);
    const parameters = shownSchema(hit.tool.internals.input.json);
    const tokens = tokensOf({ name, description, parameters });
    const joins = tokens <= left;
    if (joins) {
      left -= tokens;
      joining.push({ name: found.name, tokens, callId, words: found.why });
    }
    answers.push({
      short: { name, description, requiresApproval },
      parameters: joins ? parameters : undefined,
    });
  }
  if (discovery.join(joining) && !session.closed) session.touch('discovered');
  return { tools: within(session.binding(findToolsName)?.maxOutputChars ?? 0, answers) };
}

interface Answer {
  readonly short: JsonObject;
  readonly parameters: JsonObject | undefined;
}

/**
 * The answers that fit into the budget of outputs, which would otherwise cut one in the middle.
 * Names come before schemas, because the schema of a listed tool can be read in the list.
 */
function within(maxChars: number, answers: readonly Answer[]): JsonObject[] {
  let room = maxChars - '{"tools":[]}'.length;
  const fitting = answers.filter(({ short }) => {
    if (room >= 0) room -= charsOf(short);
    return room >= 0;
  });
  return fitting.map(({ short, parameters }) => {
    if (parameters === undefined) return short;
    const whole = { ...short, parameters };
    const more = charsOf(whole) - charsOf(short);
    if (more > room) return short;
    room -= more;
    return whole;
  });
}

/** The cost of a tool for a model, estimated as one token for every four characters. */
function tokensOf(shown: object): number {
  return Math.ceil(JSON.stringify(shown).length / 4);
}

/** The length of a tool in an answer, with a comma. */
function charsOf(shown: object): number {
  return JSON.stringify(shown).length + 1;
}
