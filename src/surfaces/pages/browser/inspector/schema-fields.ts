/** Reads a tool's schema for a form. Values that a form cannot show are written as JSON. */

/** A field of the form. */
export interface Field {
  readonly name: string;
  readonly kind: 'text' | 'long' | 'number' | 'integer' | 'yes-no' | 'choice' | 'json';
  readonly required: boolean;
  readonly description: string;
  readonly choices: readonly unknown[];
  /** The present text in the form. */
  readonly initial: string;
}

type Schema = Readonly<Record<string, unknown>>;

const longNames = /body|content|text|message|description|query|code|patch/i;

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of a schema; undefined if it does not describe an object with known members. */
export function fieldsOf(schema: unknown): readonly Field[] | undefined {
  if (!isSchema(schema) || !isSchema(schema.properties)) return undefined;
  for (const word of ['anyOf', 'oneOf', 'allOf', '$ref', 'if'])
    if (Object.hasOwn(schema, word)) return undefined;
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, member]) =>
    fieldOf(name, isSchema(member) ? member : {}, required.includes(name)),
  );
}

function fieldOf(name: string, schema: Schema, required: boolean): Field {
  const { description, default: initial } = schema;
  const choices = Array.isArray(schema.enum) ? schema.enum : [];
  const kind = kindOf(name, schema, choices);
  return {
    name,
    kind,
    required,
    description: typeof description === 'string' ? description : '',
    choices,
    initial:
      initial === undefined
        ? ''
        : typeof initial === 'string' && kind !== 'json' && kind !== 'choice'
          ? initial
          : JSON.stringify(initial),
  };
}

function kindOf(
  name: string,
  { type, anyOf, oneOf }: Schema,
  choices: readonly unknown[],
): Field['kind'] {
  if (choices.length > 0) return 'choice';
  if (anyOf !== undefined || oneOf !== undefined) return 'json';
  if (type === 'string') return longNames.test(name) ? 'long' : 'text';
  if (type === 'number' || type === 'integer') return type;
  return type === 'boolean' ? 'yes-no' : 'json';
}

/** The input that the form describes. @throws Error that names a field that is not JSON. */
export function inputOf(
  fields: readonly Field[],
  values: Readonly<Record<string, string>>,
): object {
  const entries: [string, unknown][] = [];
  for (const { name, kind, initial, required } of fields) {
    const text = values[name] ?? initial;
    if (text === '' && !(required && (kind === 'text' || kind === 'long'))) continue;
    entries.push([name, kind === 'text' || kind === 'long' ? text : readJson(name, text)]);
  }
  return Object.fromEntries(entries);
}

function readJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${name} is not valid JSON.`);
  }
}
