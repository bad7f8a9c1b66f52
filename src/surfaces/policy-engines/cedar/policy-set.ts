/** Reads the policies and the schema of a host, once, and reports Cedar's errors. */
import { createHash } from 'node:crypto';
import { isMisuseError, MisuseError } from '../../../core.ts';
import { messageOf } from '../../../values/errors/index.ts';
import { canonicalJson, copyJson, type JsonObject } from '../../../values/json/index.ts';
import { packageFault, requirePackage } from '../../../values/packages/missing-package.ts';

/** Names under which the engine keeps what it has parsed. */
export interface Parsed {
  readonly policySet: string;
  readonly schema: string | undefined;
}

/** The engine's error. */
interface CedarFault {
  readonly message: string;
  readonly help: string | null;
  readonly sourceLocations?: readonly { readonly label: string | null; readonly start: number }[];
}

const who = 'cedarPolicy';

/**
 * Parses the policies, and validates them if there is a schema.
 * @throws MisuseError `invalid_option` that names the policy and the position in its text.
 */
export function parsePolicies(
  engine: CedarEngine,
  policies: string | Readonly<Record<string, string>>,
  schema: string | JsonObject | undefined,
): Parsed {
  try {
    return parse(engine, policies, schema === undefined ? undefined : copied(schema));
  } catch (error) {
    // The engine throws instead of answering if a text is not valid Unicode.
    throw isMisuseError(error) ? error : misuse(`Cedar failed: ${messageOf(error)}`, error);
  }
}

function parse(
  engine: CedarEngine,
  policies: string | Readonly<Record<string, string>>,
  schema: string | JsonObject | undefined,
): Parsed {
  const byId = typeof policies === 'string' ? split(engine, policies) : checked(engine, policies);
  if (byId.size === 0)
    throw misuse(
      'expected `policies` to hold at least one policy; without one, every call is denied',
    );
  const staticPolicies = Object.fromEntries(byId);
  if (schema !== undefined) validate(engine, staticPolicies, schema);
  // The engine never forgets what it has parsed. The set is named by its digest, so the same set is
  // kept once, however often it is made.
  const policySet = nameOf(staticPolicies);
  refuse(engine.preparsePolicySet(policySet, { staticPolicies }), '`policies`');
  return { policySet, schema: schema === undefined ? undefined : keepSchema(engine, schema) };
}

/** A text of policies by their ids: the annotation `@id("…")`, or `policy` and the position. */
function split(engine: CedarEngine, text: string): ReadonlyMap<string, string> {
  refuse(engine.checkParsePolicySet({ staticPolicies: text }), '`policies`', text);
  const parts = engine.policySetTextToParts(text);
  if (parts.type === 'failure') throw refused(parts.errors, '`policies`', text);
  // The engine uses each policy's position as its id, and sorts the ids as texts.
  const positions = parts.policies.map((_, index) => `policy${index}`).sort();
  const byId = new Map<string, string>();
  parts.policies.forEach((policy, index) => {
    const json = engine.policyToJson(policy);
    if (json.type === 'failure') throw refused(json.errors, `\`${positions[index]}\``, policy);
    const annotations = json.json.annotations ?? {};
    const id = Object.hasOwn(annotations, 'id') ? annotations.id : positions[index];
    if (id === undefined || byId.has(id))
      throw misuse(`two policies have the id \`${id}\`; give each another \`@id("…")\``);
    byId.set(id, policy);
  });
  return byId;
}

function checked(
  engine: CedarEngine,
  policies: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const byId = new Map(Object.entries(policies));
  for (const [id, text] of byId)
    refuse(
      engine.checkParsePolicySet({ staticPolicies: { [id]: text } }),
      `policy \`${id}\``,
      text,
    );
  return byId;
}

function copied(schema: string | JsonObject): string | JsonObject {
  const copy = copyJson(schema, { maxDepth: 64, maxValues: 100_000 });
  if (!copy.ok) throw misuse(`expected \`schema\` to be JSON, got ${copy.message}`);
  return copy.value as string | JsonObject;
}

function validate(
  engine: CedarEngine,
  staticPolicies: Readonly<Record<string, string>>,
  schema: string | JsonObject,
): void {
  const answer = engine.validate({
    validationSettings: { mode: 'strict' },
    schema: schema as never,
    policies: { staticPolicies },
  });
  if (answer.type === 'failure') throw refused(answer.errors, '`schema`', textOf(schema));
  const [first] = answer.validationErrors;
  if (first !== undefined)
    throw refused([first.error], `policy \`${first.policyId}\``, staticPolicies[first.policyId]);
}

function keepSchema(engine: CedarEngine, schema: string | JsonObject): string {
  const name = nameOf(schema);
  refuse(engine.preparseSchema(name, schema as never), '`schema`', textOf(schema));
  return name;
}

function textOf(schema: string | JsonObject): string | undefined {
  return typeof schema === 'string' ? schema : undefined;
}

function nameOf(value: string | JsonObject): string {
  return `host-tools:${createHash('sha256').update(canonicalJson(value)).digest('hex')}`;
}

type Answer =
  | { readonly type: 'success' }
  | { readonly type: 'failure'; readonly errors: readonly CedarFault[] };

/** @throws MisuseError if the engine refused. `what` names its input, `text` is the text of it. */
export function refuse(answer: Answer, what: string, text?: string): void {
  if (answer.type === 'failure') throw refused(answer.errors, what, text);
}

function refused([first]: readonly CedarFault[], what: string, text?: string): MisuseError {
  const [label] = first?.sourceLocations ?? [];
  const place =
    label === undefined || text === undefined ? '' : `, ${positionOf(text, label.start)}`;
  return misuse(`${what}${place}: ${first === undefined ? 'refused by Cedar' : faultText(first)}`);
}

/** The engine's error, in one line. */
export function faultText({ message, help, sourceLocations = [] }: CedarFault): string {
  const [label] = sourceLocations;
  const more = [label?.label, help].filter((text) => typeof text === 'string').join('; ');
  const said = message.replace(/^failed to parse (?:polic|schema)[^:]*: /, '');
  const whole = more === '' ? said : `${said} (${more})`;
  return whole.replaceAll(/\s+/g, ' ').slice(0, 1_000);
}

/** The engine counts bytes of UTF-8, people count lines and characters. */
function positionOf(text: string, byte: number): string {
  const before = Buffer.from(text).subarray(0, byte).toString().split('\n');
  return `line ${before.length}, column ${[...(before.at(-1) ?? '')].length + 1}`;
}

function misuse(message: string, cause?: unknown): MisuseError {
  return new MisuseError(
    'invalid_option',
    `${who}: ${message}`,
    cause === undefined ? undefined : { cause },
  );
}

// Loads the optional package with the Cedar engine on first use. It loads synchronously, because
// policies are parsed where they are written.

/** The parts of the engine that are used. */
export type CedarEngine = Pick<
  typeof import('@cedar-policy/cedar-wasm/nodejs'),
  | 'checkParseEntities'
  | 'checkParsePolicySet'
  | 'checkParseSchema'
  | 'policySetTextToParts'
  | 'policyToJson'
  | 'preparsePolicySet'
  | 'preparseSchema'
  | 'statefulIsAuthorized'
  | 'validate'
>;

/**
 * Loads the engine. Node keeps one copy for the process.
 * @throws MisuseError `missing_dependency` if the package is not installed.
 * @param load Loads a module of the package.
 */
export function loadCedar(load: (specifier: string) => unknown = requirePackage): CedarEngine {
  try {
    // The package's main entry imports WebAssembly as a module, which Node does not support by
    // default.
    return load('@cedar-policy/cedar-wasm/nodejs') as CedarEngine;
  } catch (error) {
    throw packageFault('@cedar-policy/cedar-wasm', 'evaluates Cedar policies', error);
  }
}
