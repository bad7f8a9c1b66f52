/** Makes the definition of one operation. The document is not trusted: it cannot loosen a check. */
import type { AnyTool, CredentialNeeds, Executor, ToolAnnotations } from '../../core.ts';
import { createDefinition, type OutsideOrigin } from '../../extend.ts';
import { sha256 } from '../../values/crypto.ts';
import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../values/json/index.ts';
import type { SharedPatterns } from '../../values/json-schema/pattern-budget.ts';
import { foreignInput, foreignOutput, type UncheckedPart } from '../shared/foreign-schema.ts';
import { cleanText } from '../shared/outside-text.ts';
import { labelled, type ToolLabels } from '../shared/tool-labels.ts';
import { readBody, readResponses } from './bodies.ts';
import { checkPath, type Operation } from './operations.ts';
import { readParameters } from './parameters.ts';
import { refusal } from './references.ts';
import type { WirePlan } from './request.ts';
import { bundleSchemas, overBudget, type SchemaBudget } from './schemas.ts';
import type { Gives } from './security.ts';

/** Most bytes of a description. */
const maxDescriptionBytes = 8_192;

/** What a definition needs besides the operation. */
export interface DefinitionOptions {
  readonly document: JsonObject;
  /** The API keys of the document. */
  readonly keys: ReadonlySet<string>;
  /** What the schemas of all operations may cost together. */
  readonly budget: SchemaBudget;
  readonly prefix: string;
  /** `openapi:` and the name of the API. */
  readonly source: string;
  /** Milliseconds. */
  readonly timeoutMs: number | undefined;
  readonly labels: ToolLabels | undefined;
  /** The budget that the patterns of the whole document share. */
  readonly patterns: SharedPatterns;
  /** Gets what is not checked here, and what only the host can give. */
  readonly unchecked: UncheckedPart[];
  /** The credential whose token is sent. */
  readonly credentials: CredentialNeeds | undefined;
  /** Whether the host gives this header or this member of the query itself. */
  readonly given: Gives;
  executorOf(plan: WirePlan): Executor;
  originOf(name: string, digest: string): OutsideOrigin;
}

/** A definition, and the digest of all that the document says about the operation. */
export interface MadeDefinition {
  readonly tool: AnyTool<unknown>;
  readonly digest: string;
}

/** @throws MisuseError that says why the operation is refused */
export function defineOperation(operation: Operation, options: DefinitionOptions): MadeDefinition {
  const { prefix, source, labels = {}, unchecked, patterns } = options;
  const { plan, input, output } = readOperation(operation, options);
  const name = prefix + operation.id;
  const parameters = foreignInput({ schema: input, field: 'parameters', patterns, unchecked });
  const outputSchema = isJsonObject(output)
    ? foreignOutput({ schema: output, field: 'outputSchema', patterns, unchecked })
    : undefined;
  const description = descriptionOf(operation, source);
  const annotations = annotationsOf(operation.method);
  const { timeoutMs = options.timeoutMs, origin, requiresApproval, task } = labels;
  const said = canonicalJson({
    ...{ name, description, parameters, annotations },
    outputSchema: outputSchema ?? null,
  });
  options.budget.characters -= said.length;
  if (options.budget.characters < 0) throw overBudget();
  const digest = `sha256:${sha256(`${said}\n${canonicalJson(plan)}`)}`;
  const tool = createDefinition(
    {
      name,
      description,
      parameters,
      ...(outputSchema === undefined ? {} : { outputSchema }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(origin === undefined ? {} : { origin }),
      ...(requiresApproval === undefined ? {} : { requiresApproval }),
      ...(task === undefined ? {} : { task }),
      annotations: labelled(annotations, labels.annotations),
      tags: ['untrusted'],
      category: source,
      executor: options.executorOf(plan),
      ...(options.credentials === undefined ? {} : { credentials: options.credentials }),
    },
    { from: options.originOf(name, digest) },
  );
  return { tool: tool as AnyTool<unknown>, digest };
}

/** What an operation does on the wire, and the schemas of its input and its output. */
function readOperation(
  { node, shared, method, path }: Operation,
  { document, given, keys, budget, unchecked }: DefinitionOptions,
): { readonly plan: WirePlan; readonly input: JsonObject; readonly output: JsonValue | undefined } {
  const isOld = /^3\.0/.test(String(document.openapi));
  const sent = bundleSchemas(document, isOld, 'request', budget);
  const answered = bundleSchemas(document, isOld, 'response', budget);
  const body = readBody(node, document, sent);
  if (body !== undefined && (method === 'GET' || method === 'HEAD'))
    throw refusal(`A body of a request with ${method} is not supported.`);
  const hasBody = body !== undefined;
  const source = { document, bundle: sent, keys, hasBody, given };
  const parameters = readParameters(shared, node, source);
  const { list, hosts, required } = parameters;
  checkPath(path, new Set(list.filter(({ place }) => place === 'path').map(({ name }) => name)));
  for (const one of hosts)
    unchecked.push({ path: '/parameters', message: `Left to the host: the ${one}.` });
  const responses = readResponses(node, document, answered);
  const properties = Object.fromEntries([
    ...parameters.properties,
    ...(body === undefined ? [] : [['body', body.schema] as const]),
  ]);
  const input: JsonObject = {
    type: 'object',
    properties,
    required: [...required, ...(body?.required === true ? ['body'] : [])],
    additionalProperties: false,
    $defs: sent.defs(),
  };
  const { accept, kind } = responses;
  // An answer to HEAD has no body.
  const schema = method === 'HEAD' ? undefined : responses.schema;
  return {
    plan: { method, path, parameters: list, body: body?.plan, accept, answers: kind },
    input: withoutEmptyDefs(input),
    output: isJsonObject(schema) ? withoutEmptyDefs({ ...schema, $defs: answered.defs() }) : schema,
  };
}

function withoutEmptyDefs(schema: JsonObject): JsonObject {
  const { $defs, ...rest } = schema;
  return isJsonObject($defs) && Object.keys($defs).length > 0 ? schema : rest;
}

function descriptionOf({ node, method, path }: Operation, source: string): string {
  const { summary, description, deprecated } = node;
  const texts = [summary, description].filter((text) => typeof text === 'string');
  const [first = '', second = ''] = texts.map((text) => cleanText(text, maxDescriptionBytes));
  const said = first === second || second === '' ? first : `${first}\n\n${second}`;
  const own = said || `${method} ${path} of ${source}, which gives no description of it.`;
  return cleanText(deprecated === true ? `Deprecated. ${own}` : own, maxDescriptionBytes);
}

/**
 * What the method says. Any but GET and HEAD may change what others rely on, and every request
 * leaves the host.
 */
function annotationsOf(method: string): ToolAnnotations {
  const isRead = method === 'GET' || method === 'HEAD';
  return {
    readOnly: isRead,
    destructive: !isRead,
    idempotent: isRead || method === 'PUT' || method === 'DELETE',
    openWorld: true,
  };
}
