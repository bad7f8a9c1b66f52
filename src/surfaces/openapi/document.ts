/** Reads a document: an object, a file or an address. Its size and depth are bounded. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MisuseError } from '../../core.ts';
import { describe, messageOf } from '../../values/errors/index.ts';
import { readRegularFile } from '../../values/files/regular-file.ts';
import { webAddress } from '../../values/http/web-address.ts';
import { copyJson, isJsonObject, type JsonObject } from '../../values/json/index.ts';
import { excessOf } from '../../values/text/json-bounds.ts';
import { TextFault } from '../config/places.ts';
import { yamlReader } from '../config/read-yaml.ts';
import { connectionFault } from '../shared/executor-fault.ts';
import { readBytes } from './answer.ts';
import { quoted } from './references.ts';

/**
 * A document: what was parsed, a path or a file URL, or an http(s) address. JSON or YAML; large
 * ones are JSON.
 */
export type OpenApiDocument = object | string | URL;

/** Most bytes of a document. GitHub's has 13 MB. */
const maxBytes = 32_000_000;
/** A member with a name that did not occur before counts as five. */
const bounds = { maxDepth: 100, maxValues: 4_000_000 };
const fetchMs = 30_000;
const maxRedirects = 5;

/**
 * Reads a document.
 * @param closed ends a request for it
 * @throws (rejects with) MisuseError `invalid_option`, `invalid_file`, `missing_dependency`; an
 * error with the code `executor_lost` for an address that does not answer
 */
export async function readDocument(
  given: OpenApiDocument,
  closed: AbortSignal,
): Promise<JsonObject> {
  if (typeof given === 'object' && !(given instanceof URL)) return checked(copied(given));
  if (typeof given !== 'string' && !(given instanceof URL)) throw wrongDocument(given);
  const url = webAddress(given);
  if (url !== undefined)
    return checked(await parsed(await fetched(url, closed), url.origin + url.pathname));
  const path = pathOf(given);
  return checked(await parsed(await fileText(path), path));
}

function wrongDocument(given: unknown): MisuseError {
  return new MisuseError(
    'invalid_option',
    'importOpenApi: expected a document as an object, a path, a file URL or an http(s) address, ' +
      `got ${describe(given)}.`,
  );
}

function pathOf(given: string | URL): string {
  const text = String(given);
  if (text === '' || text.includes('\0') || /^(?!file:)[a-z][a-z\d+.-]+:\/\//i.test(text))
    throw wrongDocument(given);
  try {
    return resolve(text.startsWith('file:') ? fileURLToPath(text) : text);
  } catch {
    throw wrongDocument(given);
  }
}

function copied(given: object): unknown {
  const copy = copyJson(given, { ...bounds, maxChars: 2 * maxBytes });
  if (!copy.ok)
    throw invalid('The document', `it is not JSON at \`${copy.path}\`: ${copy.message}`);
  if (copy.overflow) throw invalid('The document', `it has more than ${2 * maxBytes} characters`);
  return copy.value;
}

async function fileText(path: string): Promise<string> {
  let bytes: Buffer | undefined;
  try {
    bytes = await readRegularFile(path, maxBytes);
  } catch (error) {
    throw invalid(path, `it cannot be read (${(error as NodeJS.ErrnoException).code})`, error);
  }
  if (bytes === undefined) throw invalid(path, 'expected a regular file');
  if (bytes.length > maxBytes) throw invalid(path, `it has more than ${maxBytes} bytes`);
  return textOf(bytes, path);
}

function textOf(bytes: Uint8Array, place: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw invalid(place, 'it is not UTF-8 text', error);
  }
}

/** Follows redirects within the origin only. */
async function fetched(address: URL, closed: AbortSignal): Promise<string> {
  const place = address.origin + address.pathname;
  const late = AbortSignal.timeout(fetchMs);
  const signal = AbortSignal.any([late, closed]);
  let url = address;
  try {
    for (let followed = 0; ; followed++) {
      const response = await fetch(url, { redirect: 'manual', signal });
      const { status, headers } = response;
      const target = headers.get('location');
      const next =
        status >= 300 && status < 400 && target !== null && URL.canParse(target, url.href)
          ? new URL(target, url)
          : undefined;
      if (response.ok) {
        const bytes = await readBytes(response, maxBytes);
        if (bytes === undefined) throw invalid(place, `it has more than ${maxBytes} bytes`);
        return textOf(bytes, place);
      }
      await response.body?.cancel().catch(() => {});
      if (next?.origin !== url.origin || followed === maxRedirects)
        throw connectionFault(
          `Cannot read the document at \`${place}\`: it answered ${status}` +
            `${next === undefined ? '' : `, and names \`${next.origin}\``}.`,
        );
      url = next;
    }
  } catch (error) {
    if (error instanceof MisuseError || (error as { code?: unknown }).code === 'executor_lost')
      throw error;
    throw connectionFault(
      `Cannot read the document at \`${place}\`: ${
        late.aborted ? `it took more than ${fetchMs} ms` : messageOf(error)
      }.`,
      error,
    );
  }
}

async function parsed(text: string, place: string): Promise<unknown> {
  if (!/^\s*\{/.test(text)) return yaml(text, place);
  const excess = excessOf(text, bounds);
  if (excess !== undefined)
    throw invalid(
      place,
      excess === 'depth'
        ? `it is nested deeper than ${bounds.maxDepth} levels`
        : `it has more than ${bounds.maxValues} values`,
    );
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw invalid(place, 'it is not JSON', error);
  }
}

async function yaml(text: string, place: string): Promise<unknown> {
  const read = await yamlReader();
  try {
    return read(text).value;
  } catch (error) {
    if (!(error instanceof TextFault)) throw error;
    throw invalid(place, `${error.message}. Large documents have to be JSON`);
  }
}

function invalid(place: string, why: string, cause?: unknown): MisuseError {
  return new MisuseError(
    'invalid_file',
    `importOpenApi: ${place}: ${why}.`,
    cause === undefined ? undefined : { cause },
  );
}

/** YAML reads `3.1` without quotation marks as a number. */
function described(openapi: unknown): string {
  return typeof openapi === 'number'
    ? `the number ${openapi}; write it in quotation marks`
    : quoted(openapi);
}

/** Refuses what is no document of OpenAPI 3.0 or 3.1. */
function checked(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw invalid('The document', 'expected an object');
  const { openapi, swagger, jsonSchemaDialect } = value;
  if (typeof openapi !== 'string' || !/^3\.[01](?:\.\d{1,3})?$/.test(openapi))
    throw invalid(
      'The document',
      `expected \`openapi: "3.0"\` or \`"3.1"\` as a text, got ${
        swagger === undefined ? described(openapi) : `Swagger ${quoted(swagger)}; convert it first`
      }`,
    );
  const known = [
    'https://spec.openapis.org/oas/3.1/dialect/base',
    'https://json-schema.org/draft/2020-12/schema',
  ];
  if (jsonSchemaDialect !== undefined && !known.includes(String(jsonSchemaDialect)))
    throw invalid('The document', `the dialect ${quoted(jsonSchemaDialect)} is not supported`);
  if (!isJsonObject(value.paths) && openapi.startsWith('3.0'))
    throw invalid('The document', 'expected `paths` to be an object');
  return value;
}
