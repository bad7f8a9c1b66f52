/**
 * Makes a definition from a server's description of a tool. The description is not trusted: nothing
 * in it can loosen a check.
 */

import {
  type AnyTool,
  type CredentialNeeds,
  type Executor,
  type JsonObject,
  type JsonValue,
  MisuseError,
  type ToolAnnotations,
} from '../../../core.ts';
import { createDefinition, type OutsideOrigin } from '../../../extend.ts';
import { isJsonObject, wellFormedJson } from '../../../values/json/index.ts';
import type { SharedPatterns } from '../../../values/json-schema/pattern-budget.ts';
import { foreignInput, foreignOutput, type UncheckedPart } from '../../shared/foreign-schema.ts';
import { cleanLine, cleanText } from '../../shared/outside-text.ts';
import { labelled, type ToolLabels } from '../../shared/tool-labels.ts';
import { isPageUri, metaIn, withoutPage } from '../sent.ts';

/** Most bytes of a description. */
const maxDescriptionBytes = 8_192;
const maxTitleBytes = 1_024;
/** Most characters of a name, prefix included. */
const maxNameChars = 1_024;

const noLabels: ToolLabels = Object.freeze({});

/** What a definition needs in addition to the description. */
export interface DefinitionOptions {
  readonly prefix: string;
  /** Milliseconds. */
  readonly timeoutMs: number | undefined;
  /** `mcp:<server>`. */
  readonly source: string;
  /** The host's labels for this tool. */
  readonly labels?: ToolLabels | undefined;
  /** The budget that the patterns of the whole listing share. */
  readonly patterns: SharedPatterns;
  /** What the tools need of the principal. */
  readonly credentials: CredentialNeeds | undefined;
  /** Gets the parts of the schemas that only the server checks. */
  readonly unchecked: UncheckedPart[];
  /** Makes the executor, which calls the tool by the server's own name. */
  executorOf(tool: ServerTool): Executor;
  /** Whether the definition may be called, and which registries hold it. */
  originOf(name: string, said: JsonObject): OutsideOrigin;
}

/** What a call needs to know about a tool. */
export interface ServerTool {
  /** The server's own name for it. */
  readonly name: string;
  /** Already checked. */
  readonly inputSchema: JsonObject;
  /** True if it declares an output schema: then its structured content is the output. */
  readonly structured: boolean;
}

/** A tool's name in messages and reports, whatever the server sent. */
export function reportedName(raw: unknown): string {
  const name = isJsonObject(raw) ? raw.name : undefined;
  return cleanLine(name, 200) || '(no name)';
}

/**
 * Makes a definition from one entry of a listing, which must be a private JSON copy. @throws
 * MisuseError whose message says what is wrong with the entry
 */
export function defineServerTool(raw: unknown, options: DefinitionOptions): AnyTool {
  if (!isJsonObject(raw)) throw new MisuseError('invalid_definition', 'It is not an object.');
  const { name, description, inputSchema, outputSchema, annotations } = raw;
  if (typeof name !== 'string') throw new MisuseError('invalid_definition', 'It has no name.');
  const ownName = options.prefix + name;
  if (ownName.length > maxNameChars)
    throw new MisuseError(
      'invalid_definition',
      `Its name is longer than ${maxNameChars} characters.`,
    );
  if (!isJsonObject(inputSchema))
    throw new MisuseError('invalid_schema', 'Its `inputSchema` is not an object.');
  const { patterns, unchecked } = options;
  const parameters = foreignInput({
    schema: inputSchema,
    field: 'inputSchema',
    patterns,
    unchecked,
  });
  const output = outputOf(outputSchema, options);
  const { labels = noLabels } = options;
  const { timeoutMs = options.timeoutMs } = labels;
  const text = typeof description === 'string' ? cleanText(description, maxDescriptionBytes) : '';
  return createDefinition(
    {
      name: ownName,
      description:
        text || `A tool of the server ${options.source}, which gives no description of it.`,
      parameters,
      ...(output === undefined ? {} : { outputSchema: output }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(labels.origin === undefined ? {} : { origin: labels.origin }),
      ...(labels.requiresApproval === undefined
        ? {}
        : { requiresApproval: labels.requiresApproval }),
      ...(options.credentials === undefined ? {} : { credentials: options.credentials }),
      ...(labels.task === undefined ? {} : { task: labels.task }),
      annotations: labelled(cautious(annotations), labels.annotations),
      tags: ['untrusted'],
      category: options.source,
      ui: { visibility: visibilityOf(raw) },
      executor: options.executorOf({
        name,
        inputSchema: parameters,
        structured: output !== undefined,
      }),
    },
    { from: options.originOf(ownName, saidOf(raw, options.unchecked)) },
  );
}

/**
 * What clients of the protocol get besides: title, hints and metadata. A title is never that of the
 * definition, because questions to people name a tool by its title.
 */
function saidOf({ title, annotations, _meta }: JsonObject, unchecked: UncheckedPart[]): JsonObject {
  const own = cleanLine(title, maxTitleBytes);
  const { _meta: meta } = metaIn(_meta);
  const kept = meta && withoutPage(meta, (uri) => !isPageUri(uri));
  if (kept !== meta)
    unchecked.push({
      path: '/_meta/ui/resourceUri',
      message: 'Not passed on: the page of an app has an address that begins with `ui://`.',
    });
  const hints = isJsonObject(annotations) ? hintsIn(annotations) : {};
  return wellFormedJson({
    ...(own === '' ? {} : { title: own }),
    ...(Object.keys(hints).length === 0 ? {} : { annotations: hints }),
    ...(kept === undefined ? {} : { _meta: kept }),
  });
}

/**
 * Whom the tool is for, by the specification of MCP Apps: for all, unless its `visibility` is
 * there. One that cannot be understood names nobody. OpenAI's Apps SDK has a key of its own, and
 * some servers write only that.
 */
export function visibilityOf(raw: unknown): readonly ('model' | 'app')[] {
  const meta = isJsonObject(raw) ? raw._meta : undefined;
  const ui = isJsonObject(meta) ? meta.ui : undefined;
  const given = isJsonObject(ui) && Object.hasOwn(ui, 'visibility') ? ui.visibility : everyone;
  const named = everyone.filter((who) =>
    Array.isArray(given) ? given.includes(who) : given === who,
  );
  const isPrivate = isJsonObject(meta) && meta['openai/visibility'] === 'private';
  return isPrivate ? named.filter((who) => who !== 'model') : named;
}

const everyone = ['model', 'app'] as const;

const flags = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];

/** Without members that clients would refuse. */
function hintsIn(annotations: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(annotations).flatMap(([name, value]): [string, JsonValue][] => {
      if (name === 'title')
        return typeof value === 'string' ? [[name, cleanLine(value, maxTitleBytes)]] : [];
      return flags.includes(name) && typeof value !== 'boolean' ? [] : [[name, value]];
    }),
  );
}

/** Without a schema that can be used, the output is what the server sends as content. */
function outputOf(
  schema: JsonValue | undefined,
  { patterns, unchecked }: DefinitionOptions,
): JsonObject | undefined {
  if (schema === undefined || schema === null) return undefined;
  if (isJsonObject(schema))
    return foreignOutput({ schema, field: 'outputSchema', patterns, unchecked });
  unchecked.push({ path: '/outputSchema', message: 'Not checked here: it is not an object.' });
  return undefined;
}

/**
 * The protocol's own defaults: a tool is destructive and reaches the outside world unless its
 * server says otherwise. `readOnly` and `idempotent` are ignored: they would let this library do
 * more with a tool, such as run it in parallel, and a server is not trusted to allow that.
 */
function cautious(annotations: JsonValue | undefined): ToolAnnotations {
  const { destructiveHint, openWorldHint } = isJsonObject(annotations) ? annotations : {};
  return {
    destructive: destructiveHint !== false,
    openWorld: openWorldHint !== false,
  };
}
