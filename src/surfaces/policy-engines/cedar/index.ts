/** Policies in Cedar. */
import { allow, type Decision, deny, type Policy, type PolicySubject } from '../../../core.ts';
import { PolicyFault } from '../../../extend.ts';
import type { JsonObject } from '../../../values/json/index.ts';
import { isThenable, type MaybePromise } from '../../../values/maybe-promise.ts';
import {
  arrayOf,
  kind,
  oneOf,
  readOptions,
  required,
  type TableOf,
  text,
  withDefault,
} from '../../../values/options/index.ts';
import { documentFault, type PolicyDocument, policyDocument } from '../policy-document.ts';
import {
  type CedarEntity,
  type DecimalPaths,
  type ReadEntity,
  readEntities,
  toCedarRecord,
  ValueFault,
  withTool,
} from './entities.ts';
import {
  type CedarEngine,
  faultText,
  loadCedar,
  type Parsed,
  parsePolicies,
  refuse,
} from './policy-set.ts';

export type { PolicyDocument } from '../policy-document.ts';
export type { CedarEntity, CedarUid } from './entities.ts';

/** Options of {@link cedarPolicy}. */
export interface CedarOptions {
  /** The policy's id, which is `ruleId` if it decides. @default "cedar" */
  readonly id?: string | undefined;
  /**
   * The policies: one text, or one policy for each id. In a text, a policy's id is its annotation
   * `@id("…")`, or else `policy` and its position from 0. Templates are refused.
   */
  readonly policies: string | Readonly<Record<string, string>>;
  /**
   * The entities that policies refer to, such as groups of users. A function is asked for each
   * call; if it throws or rejects, the call is denied. The tool need not be among them.
   * @default []
   */
  readonly entities?:
    | readonly CedarEntity[]
    | ((call: PolicySubject) => MaybePromise<readonly CedarEntity[]>)
    | undefined;
  /**
   * A schema in Cedar's own syntax or its JSON. Policies are then validated when you create them,
   * and a call that does not fit the schema is denied.
   * @default none
   */
  readonly schema?: string | JsonObject | undefined;
  /**
   * Paths in the context whose numbers are always decimals, such as `input.amount` or
   * `input.items.*.price`. Other numbers are longs if they are whole, and decimals if not.
   * @default []
   */
  readonly decimals?: readonly string[] | undefined;
  /**
   * What happens to a call that no policy applies to: `deny`, as in Cedar itself, or `abstain`,
   * which leaves the call to the other gates.
   * @default "deny"
   */
  readonly unmatched?: 'deny' | 'abstain' | undefined;
}

const table = {
  id: withDefault(text(1), 'cedar'),
  policies: required(
    kind<CedarOptions['policies']>(
      'a text of Cedar policies, or an object of one text for each id',
      (value) =>
        typeof value === 'string' ||
        (isPlain(value) && Object.values(value).every((one) => typeof one === 'string')),
    ),
  ),
  entities: withDefault(
    kind<NonNullable<CedarOptions['entities']>>(
      'a list of entities, or a function that returns one',
      (value) => Array.isArray(value) || typeof value === 'function',
    ),
    Object.freeze([]),
  ),
  schema: kind<NonNullable<CedarOptions['schema']>>(
    "a schema as text or as an object of Cedar's JSON",
    (value) => typeof value === 'string' || isPlain(value),
  ),
  decimals: withDefault(
    arrayOf(
      kind<string>(
        'a path',
        (value) => typeof value === 'string' && /^(?:input|facts|attributes)\../.test(value),
      ),
      'paths that begin with `input.`, `facts.` or `attributes.`',
    ),
    Object.freeze([]),
  ),
  unmatched: withDefault(oneOf('deny', 'abstain'), 'deny'),
} satisfies TableOf<CedarOptions>;

/**
 * Makes a policy that asks [Cedar](https://www.cedarpolicy.com). Needs the package
 * `@cedar-policy/cedar-wasm`. Cedar is asked whether `User::"<principal>"` may do `Action::"call"`
 * on `Tool::"<name>"`, with the context `{ input, facts, surface, sessionId, attributes }`.
 *
 * If Cedar allows the call, that counts as an `allow`. If Cedar denies it, that counts as a `deny`,
 * whose message names the policies. If any policy fails on a call, the call is denied with the
 * reason `cedar_error`, and the logger gets the error. Cedar itself would skip a `forbid` that
 * fails.
 *
 * @throws MisuseError `invalid_option` if an option is wrong or a policy cannot be parsed; the
 * message names the policy and the position. `missing_dependency` without the package.
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools';
 * import { cedarPolicy } from 'host-tools/cedar';
 *
 * const registry = new HostToolRegistry({
 *   policies: [
 *     cedarPolicy({
 *       policies: `
 *         permit(principal, action, resource);
 *         forbid(principal, action, resource == Tool::"deploy")
 *         when { context.input.environment == "production" };`,
 *     }),
 *   ],
 * });
 * ```
 */
export function cedarPolicy(options: CedarOptions): Policy {
  const { id, policies, entities, schema, decimals, unmatched } = readOptions(
    'cedarPolicy',
    options,
    table,
  );
  const engine = loadCedar();
  const asked: Asked = {
    engine,
    parsed: parsePolicies(engine, policies, schema),
    decimals: decimals.map((path) => path.split('.')),
    unmatched,
  };
  if (typeof entities === 'function') {
    return {
      id,
      check: (call) => {
        const given = entities(call);
        return isThenable(given)
          ? Promise.resolve(given).then((later) => decide(asked, call, readAnswer(later)))
          : decide(asked, call, readAnswer(given));
      },
    };
  }
  const read = readEntities('entities', entities);
  refuse(engine.checkParseEntities({ entities: read as never }), '`entities`');
  return { id, check: (call) => decide(asked, call, read) };
}

/** The parts that are the same for every call. */
interface Asked {
  readonly engine: CedarEngine;
  readonly parsed: Parsed;
  readonly decimals: DecimalPaths;
  readonly unmatched: 'deny' | 'abstain';
}

function decide(
  asked: Asked,
  call: PolicySubject,
  entities: readonly ReadEntity[],
): Decision | undefined {
  const document = policyDocument(call);
  const answer = ask(asked, document, entities);
  if (answer.type !== 'success') throw failed(answer.errors.map(faultText));
  const { decision, diagnostics } = answer.response;
  if (diagnostics.errors.length > 0)
    throw failed(
      diagnostics.errors.map(
        ({ policyId, error }) => `policy \`${policyId}\`: ${faultText(error)}`,
      ),
    );
  if (decision === 'allow') return allow();
  if (diagnostics.reason.length > 0)
    return deny('cedar_forbidden', forbiddenText(diagnostics.reason));
  return asked.unmatched === 'abstain'
    ? undefined
    : deny(
        'cedar_not_permitted',
        'The call was denied, because no policy permits it. Do not retry it unchanged.',
      );
}

function ask(
  { engine, parsed, decimals }: Asked,
  document: PolicyDocument,
  entities: readonly ReadEntity[],
): ReturnType<CedarEngine['statefulIsAuthorized']> {
  const fault = documentFault(document);
  if (fault !== undefined) throw failed([`the call cannot be shown to Cedar: ${fault}`]);
  const { policySet, schema } = parsed;
  try {
    return engine.statefulIsAuthorized({
      principal: { type: 'User', id: document.principal },
      action: { type: 'Action', id: document.action },
      resource: { type: 'Tool', id: document.resource.name },
      context: toCedarRecord(document.context as unknown as JsonObject, decimals) as never,
      entities: withTool(entities, document.resource) as never,
      preparsedPolicySetId: policySet,
      ...(schema === undefined ? {} : { preparsedSchemaName: schema, validateRequest: true }),
    });
  } catch (error) {
    const told =
      error instanceof ValueFault ? `Cedar cannot express ${error.told}` : 'Cedar failed';
    throw new PolicyFault('cedar_error', told, { cause: error });
  }
}

/** What the host's function returned, as entities. */
function readAnswer(entities: unknown): readonly ReadEntity[] {
  try {
    return readEntities('entities()', entities);
  } catch (error) {
    throw new PolicyFault('cedar_error', 'the function `entities` returned none', { cause: error });
  }
}

function failed(faults: readonly string[]): PolicyFault {
  return new PolicyFault(
    'cedar_error',
    [...faults].sort().slice(0, 5).join('; ') || 'Cedar gave no answer',
  );
}

const maxNamed = 5;

function forbiddenText(ids: readonly string[]): string {
  // The engine returns them in an order that differs from run to run.
  const named = [...ids]
    .sort()
    .slice(0, maxNamed)
    .map((id) => `\`${id.slice(0, 100)}\``);
  const rest = ids.length > maxNamed ? ` and ${ids.length - maxNamed} more` : '';
  const noun = ids.length === 1 ? 'policy' : 'policies';
  const list = named.join(', ') + rest;
  return `The call was denied by the ${noun} ${list}. Do not retry it unchanged.`;
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
