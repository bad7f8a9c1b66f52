/** Hides what is secret: fields by schema marks and paths, texts by the values that were found there. */
import { copyJson, escapePointer, isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import { compileSecretMap, expand, type SecretNode } from './secret-map.ts';

/** What stands where a secret stood. */
export const redacted = '[redacted]';

/** Finds and hides the secret fields of values that follow one schema. Values need not be valid: what cannot be told apart is hidden. */
export interface Redactor {
  /** A copy with every secret field replaced by {@link redacted}; the same reference when there was none. */
  redact(value: JsonValue): JsonValue;
  /** Adds every secret text below secret fields: strings of 4 characters or more, numbers of 6 digits or more. */
  collect(value: JsonValue, into: Set<string>): void;
  /** JSON pointers of the fields that `redact` would hide, in the value's order; `""` is the whole value. */
  fields(value: JsonValue): string[];
}

/**
 * Makes a redactor from a schema's marks (`"x-secret": true` or `"secret": true` on a sub-schema) and from paths. Undefined when neither marks anything.
 * A path without a dot names a key at any depth (`"password"`). A dotted path starts at the value's root (`"auth.token"`), `*` in it is any one key or index,
 * and it also reaches into arrays that it does not mention. `"*"` alone is every field. Matching is case-sensitive.
 * Where it is unclear which part of a schema a field follows, any mark that could apply hides it; a marked object hides everything beneath it.
 * @throws MisuseError `invalid_option` for a blank path or one with an empty part.
 */
export function createRedactor(schema: JsonObject | boolean | undefined, paths: readonly string[]): Redactor | undefined {
  const map = compileSecretMap(schema, paths);
  if (map === undefined) return undefined;
  const { root, anyDepth } = map;

  /** Calls `hide` with every outermost secret value. */
  function visit(value: JsonValue, nodes: readonly SecretNode[], pointer: string, hide: (value: JsonValue, pointer: string) => void): void {
    const here = expand(nodes);
    if (here.some((node) => node.marked)) {
      hide(value, pointer);
      return;
    }
    if (typeof value === 'string') {
      const inner = readText(value, here, anyDepth);
      if (inner === 'hide') hide(value, pointer);
      else if (inner !== undefined) visit(inner.json, here, pointer, hide);
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (const [index, item] of (value as readonly JsonValue[]).entries()) visit(item, below(here, String(index), index), `${pointer}/${index}`, hide);
      return;
    }
    for (const key of Object.keys(value)) {
      const item = (value as JsonObject)[key] as JsonValue;
      if (anyDepth.has(key)) hide(item, `${pointer}/${escapePointer(key)}`);
      else visit(item, below(here, key, undefined), `${pointer}/${escapePointer(key)}`, hide);
    }
  }

  function copy(value: JsonValue, nodes: readonly SecretNode[]): JsonValue {
    const here = expand(nodes);
    if (here.some((node) => node.marked)) return redacted;
    if (typeof value === 'string') {
      const inner = readText(value, here, anyDepth);
      if (inner === undefined) return value;
      if (inner === 'hide') return redacted;
      const kept = copy(inner.json, here);
      return kept === inner.json ? value : JSON.stringify(kept);
    }
    if (typeof value !== 'object' || value === null) return value;
    let changed = false;
    if (Array.isArray(value)) {
      const items = value.map((item: JsonValue, index) => {
        const kept = copy(item, below(here, String(index), index));
        if (kept !== item) changed = true;
        return kept;
      });
      return changed ? items : value;
    }
    const entries = Object.keys(value).map((key): [string, JsonValue] => {
      const item = (value as JsonObject)[key] as JsonValue;
      const kept = anyDepth.has(key) ? redacted : copy(item, below(here, key, undefined));
      if (kept !== item) changed = true;
      return [key, kept];
    });
    // fromEntries defines own properties, `__proto__` included.
    return changed ? Object.fromEntries(entries) : value;
  }

  return Object.freeze<Redactor>({
    redact: (value) => copy(value, root),
    collect: (value, into) => visit(value, root, '', (secret) => collectTexts(secret, into)),
    fields: (value) => {
      const pointers: string[] = [];
      visit(value, root, '', (_, pointer) => pointers.push(pointer));
      return pointers;
    },
  });
}

/**
 * JSON that was sent as text where a schema or a path leads deeper: its fields are fields all the same. Text that only begins like JSON is hidden whole
 * where a schema wanted a value with secrets in it.
 */
function readText(text: string, nodes: readonly SecretNode[], anyDepth: ReadonlySet<string>): { readonly json: JsonValue } | 'hide' | undefined {
  if ((nodes.length === 0 && anyDepth.size === 0) || !/^\s*[[{"]/.test(text)) return undefined;
  const deep = nodes.some(leadsDeeper);
  if (!deep && anyDepth.size === 0) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return deep && nodes.some((node) => !node.path && leadsDeeper(node)) ? 'hide' : undefined;
  }
  const json = copyJson(parsed, { maxDepth: 64, maxValues: 100_000 });
  return json.ok ? { json: json.value } : 'hide';
}

function leadsDeeper(node: SecretNode): boolean {
  return (
    node.properties.size + node.patterns.length + node.otherProperties.length + node.prefix.length + node.otherItems.length + node.everyItem.length > 0 ||
    node.each !== undefined
  );
}

/** The nodes that may speak of one key or element. */
function below(nodes: readonly SecretNode[], key: string, index: number | undefined): readonly SecretNode[] {
  if (nodes.length === 0) return nodes;
  const next: SecretNode[] = [];
  for (const node of nodes) {
    if (node.path) {
      if (index !== undefined) next.push(node);
      const named = node.properties.get(key);
      if (named !== undefined) next.push(named);
    } else if (index !== undefined) {
      const placed = node.prefix[index];
      if (placed !== undefined) next.push(placed);
      else next.push(...node.otherItems);
      next.push(...node.everyItem);
      continue;
    } else {
      const named = node.properties.get(key);
      if (named === undefined) next.push(...node.otherProperties, ...node.patterns.map((pattern) => pattern.node));
      else next.push(named, ...node.patterns.filter((pattern) => pattern.test(key)).map((pattern) => pattern.node));
    }
    if (node.each !== undefined) next.push(node.each);
  }
  return next;
}

const leastSecretLength = 4;
const leastSecretDigits = 6;

function collectTexts(value: JsonValue, into: Set<string>): void {
  if (typeof value === 'string') {
    if (value.length >= leastSecretLength && value.trim() !== '') into.add(value);
    const trimmed = value.trim();
    if (trimmed.length >= leastSecretLength) into.add(trimmed);
  } else if (typeof value === 'number') {
    const text = JSON.stringify(value);
    if (text.replace(/\D/g, '').length >= leastSecretDigits) into.add(text);
  } else if (Array.isArray(value)) {
    for (const item of value) collectTexts(item, into);
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) collectTexts(value[key] as JsonValue, into);
  }
}

/** Characters that one text may cost to search, over all secrets. A text that would cost more is hidden whole. */
const scrubBudget = 64_000_000;

/**
 * Replaces every occurrence of every secret by {@link redacted}: as it is, as JSON text writes it (once and twice escaped) and URI-encoded.
 * Secrets that overlap in the text are hidden together, so that none leaves a remainder. Takes linear time; with very many secrets in a very long
 * text the whole text is replaced.
 */
export function redactText(text: string, secrets: ReadonlySet<string>): string {
  if (secrets.size === 0 || text === '') return text;
  if (secrets.size * text.length > scrubBudget) return redacted;
  const forms = new Set<string>();
  for (const secret of secrets) for (const form of formsOf(secret, text.length)) forms.add(form);
  if (forms.size * text.length > scrubBudget) return redacted;
  // The length of the longest secret that starts at each place; one slot a character, however many secrets there are.
  const lengths = new Int32Array(text.length);
  for (const form of forms) {
    findAll(text, form, (start) => {
      if (form.length > (lengths[start] as number)) lengths[start] = form.length;
    });
  }
  let out = '';
  let done = 0;
  for (let start = 0; start < text.length; start++) {
    if (lengths[start] === 0) continue;
    let end = start + (lengths[start] as number);
    for (let at = start + 1; at < end; at++) end = Math.max(end, at + (lengths[at] as number));
    out += text.slice(done, start) + redacted;
    done = end;
    start = end - 1;
  }
  return done === 0 ? text : out + text.slice(done);
}

/** Texts up to this length are found by the engine's own search, whose worst case grows with the product of both lengths. */
const shortForm = 8;

/** Every place of a form in a text, overlapping ones too, in linear time: both may come from a model (Knuth, Morris and Pratt's search). */
function findAll(text: string, form: string, found: (start: number) => void): void {
  if (form.length <= shortForm) {
    for (let start = text.indexOf(form); start !== -1; start = text.indexOf(form, start + 1)) found(start);
    return;
  }
  if (!text.includes(form.slice(0, shortForm))) return;
  const fallback = new Int32Array(form.length);
  for (let at = 1, matched = 0; at < form.length; at++) {
    while (matched > 0 && form.charCodeAt(at) !== form.charCodeAt(matched)) matched = fallback[matched - 1] as number;
    if (form.charCodeAt(at) === form.charCodeAt(matched)) matched++;
    fallback[at] = matched;
  }
  for (let at = 0, matched = 0; at < text.length; at++) {
    while (matched > 0 && text.charCodeAt(at) !== form.charCodeAt(matched)) matched = fallback[matched - 1] as number;
    if (text.charCodeAt(at) === form.charCodeAt(matched)) matched++;
    if (matched < form.length) continue;
    found(at - matched + 1);
    matched = fallback[matched - 1] as number;
  }
}

function formsOf(secret: string, longest: number): string[] {
  if (secret === '' || secret.length > longest) return [];
  const forms = [secret];
  const escaped = JSON.stringify(secret).slice(1, -1);
  if (escaped !== secret) forms.push(escaped, JSON.stringify(escaped).slice(1, -1));
  // A lone surrogate cannot be encoded; it travels as U+FFFD.
  const encoded = encodeURIComponent(secret.replace(/\p{Cs}/gu, '\ufffd'));
  if (encoded !== secret) {
    for (const form of [
      encoded,
      encoded.replaceAll('%20', '+'),
      encodeURI(secret.replace(/\p{Cs}/gu, '\ufffd')),
      new URLSearchParams([['', secret]]).toString().slice(1),
    ]) {
      forms.push(
        form,
        form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
      );
    }
  }
  return forms.filter((form) => form.length <= longest);
}
