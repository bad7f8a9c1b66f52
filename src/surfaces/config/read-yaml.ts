/**
 * Reads YAML text with the places of its values. Only what JSON can represent is accepted: no tags,
 * no merge keys, only scalar keys, and a bounded number of aliases.
 */
import type * as Yaml from 'yaml';
import { packageFault } from '../../values/packages/missing-package.ts';
import { shortened } from './issues.ts';
import { maxDepth, maxValues, type ParsedText, type Place, TextFault } from './places.ts';

/**
 * Loads the reader of YAML texts.
 * @param importYaml imports the optional package
 * @throws MisuseError `missing_dependency`
 */
export async function yamlReader(
  importYaml: () => Promise<typeof Yaml> = () => import('yaml'),
): Promise<(text: string) => ParsedText> {
  let yaml: typeof Yaml;
  try {
    yaml = await importYaml();
  } catch (error) {
    throw packageFault('yaml', 'reads YAML files', error, ', or write the file as JSON');
  }
  return (text) => read(text, yaml);
}

/**
 * Maximum number of tokens in a text: marks, scalars, spaces, comments, line breaks. A member of a
 * block takes seven, an item of a flow list takes three.
 */
const maxTokens = 500_000;

const options = {
  version: '1.2',
  schema: 'core',
  merge: false,
  resolveKnownTags: false,
  prettyErrors: false,
  // Duplicate keys are found here, because the package compares each key with all others.
  uniqueKeys: false,
  logLevel: 'error',
} as const;

/** Reads a YAML text. @throws TextFault */
function read(text: string, yaml: typeof Yaml): ParsedText {
  const [document, second] = documentsOf(text, yaml);
  const [fault] = [...(document?.errors ?? []), ...(document?.warnings ?? [])].sort(
    (a, b) => a.pos[0] - b.pos[0],
  );
  if (fault !== undefined) throw new TextFault(fault.pos[0], messageOf(fault));
  if (second !== undefined)
    throw new TextFault(second.range[0], 'expected one document, got a second one');
  return new Walk(yaml).node(document?.contents, 0, 0);
}

/** The first two documents of a text. @throws TextFault */
function documentsOf(text: string, yaml: typeof Yaml): readonly Yaml.Document.Parsed[] {
  const documents: Yaml.Document.Parsed[] = [];
  try {
    for (const document of new yaml.Composer(options).compose(
      tokensOf(text, yaml),
      true,
      text.length,
    )) {
      documents.push(document as Yaml.Document.Parsed);
      if (documents.length === 2) break;
    }
  } catch (error) {
    if (error instanceof TextFault) throw error;
    throw new TextFault(
      0,
      `not YAML: ${error instanceof Error ? error.message : 'unknown syntax'}`,
    );
  }
  return documents;
}

/**
 * The tokens of a text, bounded before documents are composed: the package recurses for each level
 * of nesting and is slow with many small tokens.
 */
function* tokensOf(text: string, yaml: typeof Yaml): Generator<Yaml.CST.Token, void> {
  const parser = new yaml.Parser();
  let tokens = 0;
  for (const token of new yaml.Lexer().lex(text)) {
    if (++tokens > maxTokens) throw new TextFault(parser.offset, `more than ${maxTokens} tokens`);
    yield* parser.next(token);
    // A value takes two entries of the stack if its properties or its key are open too. The walk
    // counts exactly.
    if (parser.stack.length > 2 * maxDepth + 10)
      throw new TextFault(parser.offset, `nested deeper than ${maxDepth} levels`);
  }
  yield* parser.end();
}

function messageOf({ code, message }: Yaml.YAMLParseError | Yaml.YAMLWarning): string {
  return code === 'TAG_RESOLVE_FAILED' ? `${message}; write plain values without tags` : message;
}

class Walk {
  readonly #yaml: typeof Yaml;
  readonly #anchors = new Map<string, Yaml.Node>();
  /** The collections that enclose the present node. */
  readonly #open = new Set<unknown>();
  #values = 0;

  constructor(yaml: typeof Yaml) {
    this.#yaml = yaml;
  }

  /** Reads a node. @param at the offset of the value that the node, or an alias of it, gives */
  node(node: unknown, at: number, depth: number): ParsedText {
    const { isAlias, isMap, isScalar, isSeq } = this.#yaml;
    if (++this.#values > maxValues)
      throw new TextFault(at, `more than ${maxValues} values, counting each use of an alias`);
    if (node === null || node === undefined) return { value: null, place: { at } };
    if (isAlias(node)) {
      const target = this.#anchors.get(node.source);
      if (target === undefined)
        throw new TextFault(
          startOf(node, at),
          `there is no anchor \`&${node.source}\` before this alias`,
        );
      if (this.#open.has(target))
        throw new TextFault(
          startOf(node, at),
          `the alias \`*${node.source}\` is used inside the value that it refers to`,
        );
      return this.node(target, at, depth);
    }
    checkUntagged(node, at);
    const { anchor } = node as Yaml.Node & { anchor?: string };
    if (anchor !== undefined) this.#anchors.set(anchor, node as Yaml.Node);
    if (isScalar(node)) return { value: scalarOf(node, at), place: { at } };
    if (!isMap(node) && !isSeq(node)) throw new TextFault(at, 'expected a value');
    if (depth >= maxDepth) throw new TextFault(at, `nested deeper than ${maxDepth} levels`);
    this.#open.add(node);
    const parsed = isMap(node) ? this.#map(node, at, depth) : this.#list(node, at, depth);
    this.#open.delete(node);
    return parsed;
  }

  #map({ items }: Yaml.YAMLMap, at: number, depth: number): ParsedText {
    const value: Record<string, unknown> = {};
    const inside = new Map<string, Place>();
    for (const { key: keyNode, value: member } of items) {
      const place = startOf(keyNode, at);
      const key = this.#key(keyNode, place);
      if (inside.has(key))
        throw new TextFault(place, `the key \`${shortened(key)}\` is given twice`);
      const parsed = this.node(member, place, depth + 1);
      inside.set(key, parsed.place);
      // Defined, because assigning `__proto__` would set the prototype.
      Object.defineProperty(value, key, {
        value: parsed.value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return { value, place: { at, inside } };
  }

  #key(node: unknown, at: number): string {
    const key = this.#yaml.isAlias(node) ? this.#anchors.get(node.source) : node;
    if (!this.#yaml.isScalar(key) || key.value === null)
      throw new TextFault(at, 'expected a key that is a string');
    const { anchor } = key as { anchor?: string };
    if (anchor !== undefined) this.#anchors.set(anchor, key);
    checkUntagged(key, at);
    // As a plain key, it would merge nothing, and a schema, for example, would then check nothing.
    if (key.value === '<<' && key.type === 'PLAIN')
      throw new TextFault(
        at,
        'merge keys (`<<`) are not supported; write out the members, or quote the key if ' +
          'it is an ordinary key',
      );
    if (typeof key.value === 'string') return key.value;
    return typeof key.source === 'string' ? key.source : String(key.value);
  }

  #list({ items }: Yaml.YAMLSeq, at: number, depth: number): ParsedText {
    const parsed = items.map((item) => this.node(item, startOf(item, at), depth + 1));
    return {
      value: parsed.map(({ value }) => value),
      place: { at, inside: new Map(parsed.map(({ place }, index) => [index, place])) },
    };
  }
}

function scalarOf({ value }: Yaml.Scalar, at: number): unknown {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new TextFault(at, `${value} is not a JSON number`);
  if (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'boolean'
  )
    return value;
  throw new TextFault(at, 'expected a string, a number, a boolean or null');
}

/** Refuses tags, because the package silently accepts those of its own schema. */
function checkUntagged(node: unknown, at: number): void {
  const { tag } = node as { tag?: string };
  if (tag !== undefined)
    throw new TextFault(
      at,
      `the tag ${shortened(tag)} is not supported; write plain values without tags`,
    );
}

function startOf(node: unknown, otherwise: number): number {
  return (
    (node as { range?: readonly [number, number, number] | null } | null)?.range?.[0] ?? otherwise
  );
}
