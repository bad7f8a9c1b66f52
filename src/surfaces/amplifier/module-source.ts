/** Where a module's tools come from, and the session that each mount opens over them. */
import {
  type AnyTool,
  isMisuseError,
  type Logger,
  MisuseError,
  type SessionOptions,
  type ToolSession,
} from '../../core.ts';
import type { HostToolRegistry } from '../../index.ts';
import { describe } from '../../values/errors/index.ts';
import {
  copyJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../values/json/index.ts';
import { schemaEngine } from '../../values/json-schema/engine.ts';
import type { MaybePromise } from '../../values/maybe-promise.ts';
import { suggestion } from '../../values/options/index.ts';
import { type BoundSchema, bindSchema, type Refused } from '../../values/schema/bind.ts';
import { followReference } from '../../values/schema/local-reference.ts';
import { knownKeys } from './module-config.ts';
import { ownRegistry } from './own-registry.ts';

/** The tools of a module: a registry, or definitions, which then get a registry of their own. */
export type ModuleSource<S = unknown> = HostToolRegistry<S> | readonly AnyTool<S>[];

/** A session with what must be closed after it. */
interface Opened {
  readonly session: ToolSession;
  /** Closes the session, and the registry if it was made for this mount. */
  close(): Promise<void>;
}

/** The tools of a module. */
export interface ModuleTools {
  /** Reads the module's own configuration. Undefined if it has none. */
  readonly config: OwnConfig | undefined;
  /**
   * Opens a session. Resolves to undefined if the registry is closed.
   * @param own the module's own configuration, parsed.
   * @throws MisuseError (as a rejection) for wrong session options, and what `source` throws.
   */
  open(own: unknown, options: SessionOptions): Promise<Opened | undefined>;
}

/** @throws MisuseError for a `source` and a `config` that do not go together. */
export function toolsOf(
  source: ModuleSource | ((config: never) => unknown),
  config: unknown,
  logger: Logger | undefined,
): ModuleTools {
  if (typeof source !== 'function') {
    if (config !== undefined)
      throw new MisuseError(
        'invalid_option',
        'createModule: expected a function (config) => definitions together with `config`, got ' +
          `${describe(source)}.`,
      );
    const registryFor = isList(source) ? ownRegistry(source, logger) : givenRegistry(source);
    return {
      config: undefined,
      open: async (_, options) => {
        const session = openOn(await registryFor(), options);
        return session === undefined ? undefined : { session, close: () => session.close() };
      },
    };
  }
  if (config === undefined)
    throw new MisuseError(
      'invalid_option',
      'createModule: expected `config` to be the schema of what the function is called with, got ' +
        'undefined.',
    );
  const make = source as (config: unknown) => MaybePromise<unknown>;
  return {
    config: ownConfig(config),
    open: async (own, options) => openOwn(await make(own), options, logger),
  };
}

async function openOwn(
  source: unknown,
  options: SessionOptions,
  logger: Logger | undefined,
): Promise<Opened | undefined> {
  if (!isList(source)) {
    const session = openOn(await givenRegistry(source)(), options);
    return session === undefined ? undefined : { session, close: () => session.close() };
  }
  const registry = await ownRegistry(source, logger)();
  let session: ToolSession;
  try {
    session = registry.createSession(options);
  } catch (error) {
    await registry.close();
    throw error;
  }
  return {
    session,
    close: async () => {
      await session.close();
      await registry.close();
    },
  };
}

function isList(source: unknown): source is readonly AnyTool<unknown>[] {
  return Array.isArray(source);
}

/** @throws MisuseError for what is no registry. */
function givenRegistry(source: unknown): () => Promise<HostToolRegistry> {
  if (
    typeof source !== 'object' ||
    source === null ||
    typeof (source as HostToolRegistry).createSession !== 'function'
  )
    throw new MisuseError(
      'invalid_option',
      `createModule: expected a registry or an array of definitions, got ${describe(source)}.`,
    );
  return async () => source as HostToolRegistry;
}

/** Undefined if the registry is closed. @throws MisuseError for anything else. */
function openOn(registry: HostToolRegistry, options: SessionOptions): ToolSession | undefined {
  try {
    return registry.createSession(options);
  } catch (error) {
    if (isMisuseError(error) && error.code === 'closed') return undefined;
    throw error;
  }
}

// A module's own configuration: the settings of a mount plan for its tools, in addition to the
// known keys.

const limits = { maxDepth: 64, maxValues: 100_000 };
const compositions = ['allOf', 'anyOf', 'oneOf'] as const;

/** Reads a module's own configuration by its schema. */
interface OwnConfig {
  /**
   * Splits a mount plan's configuration and parses the module's own part, defaults included.
   * @returns the mount plan's own part, unchecked, and the parsed rest.
   * @throws MisuseError (as a rejection) that names the key.
   */
  read(config: unknown): Promise<{ readonly plan: unknown; readonly own: unknown }>;
}

/**
 * Makes the reader.
 * @throws MisuseError for a value that is not a schema of an object, and for a schema that declares
 * a key of the mount plan itself.
 */
function ownConfig(schema: unknown): OwnConfig {
  const bound = bindSchema(schema, {
    direction: 'input',
    where: 'createModule, `config`',
    objectOnly: true,
    trusted: true,
  });
  bound.prepare(() => schemaEngine);
  bound.check();
  const declared = declaredNames(bound.json);
  for (const name of knownKeys)
    if (declared?.has(name) === true)
      throw new MisuseError(
        'invalid_option',
        `createModule: expected \`config\` to declare keys of the module's own, got \`${name}\`, ` +
          'which sets an option of the session. Choose another name.',
      );
  return { read: async (config) => readBy(bound, declared, config) };
}

async function readBy(
  schema: BoundSchema,
  declared: ReadonlySet<string> | undefined,
  config: unknown,
): Promise<{ readonly plan: unknown; readonly own: unknown }> {
  const plan = Object.create(null) as Record<string, unknown>;
  const own = Object.create(null) as Record<string, unknown>;
  if (config !== undefined && config !== null) {
    // It is not an object, so the reader of the mount plan's part refuses it.
    if (typeof config !== 'object' || Array.isArray(config)) return { plan: config, own };
    for (const [key, value] of Object.entries(config)) {
      if (knownKeys.has(key)) plan[key] = value;
      else if (declared === undefined || declared.has(key)) own[key] = value;
      else
        throw new MisuseError(
          'invalid_option',
          `Module config: unknown key \`${key.slice(0, 60)}\`` +
            suggestion(key, [...declared, ...knownKeys]),
        );
    }
  }
  const copy = copyJson(own, limits);
  if (!copy.ok)
    throw new MisuseError('invalid_option', `Module config: \`${copy.path}\`: ${copy.message}.`);
  const parsed = await schema.validate(copy.value);
  if (parsed.issues !== undefined) throw misfit(parsed);
  return { plan, own: parsed.value };
}

function misfit({ issues, fault }: Refused): MisuseError {
  const [issue] = issues;
  const place = issue === undefined || issue.path === '' ? '' : `\`${issue.path}\`: `;
  return new MisuseError(
    'invalid_option',
    `Module config: it does not fit the module's schema: ${place}${issue?.message ?? 'invalid'}.`,
    fault === undefined ? undefined : { cause: fault.thrown },
  );
}

/**
 * The names that a schema declares, in its branches too. Undefined if it takes any name, so that
 * only the schema itself can judge.
 */
function declaredNames(root: JsonObject): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  const seen = new Set<JsonValue>();
  let closed = false;
  const collect = (part: JsonValue | undefined): boolean => {
    if (part === undefined || !isJsonObject(part) || seen.has(part)) return true;
    seen.add(part);
    if (part.patternProperties !== undefined || (part.additionalProperties ?? false) !== false)
      return false;
    if (part.properties !== undefined && isJsonObject(part.properties)) {
      closed = true;
      for (const name of Object.keys(part.properties)) names.add(name);
    }
    const parts = compositions.flatMap((keyword) => {
      const branches = part[keyword];
      return Array.isArray(branches) ? (branches as readonly JsonValue[]) : [];
    });
    if (typeof part.$ref === 'string') {
      const target = followReference(part.$ref, part, root);
      if (target === undefined) return false;
      parts.push(target);
    }
    for (const key of ['if', 'then', 'else']) parts.push(part[key] ?? true);
    return parts.every(collect);
  };
  return collect(root) && closed ? names : undefined;
}
