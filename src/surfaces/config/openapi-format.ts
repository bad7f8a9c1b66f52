/** The key `openapi` of a file: HTTP APIs, of whose operations tools are made. */
import * as z from 'zod';
import { webAddress } from '../../values/http/web-address.ts';
import { headerTexts, toolLabels } from './server-format.ts';
import {
  milliseconds,
  oneNameEach,
  strict,
  text,
  texts,
  timeoutOrSeconds,
} from './value-formats.ts';

const server = z.string().check((context) => {
  const url = webAddress(context.value);
  if (url === undefined || url.username + url.password + url.search + url.hash !== '')
    context.issues.push({
      code: 'custom',
      message:
        'expected an http(s) address without a user, a password, a query and a fragment; pass ' +
        'credentials in `headers` or `query`',
      input: context.value,
    });
});

const api = oneNameEach(
  strict({
    document: text.describe(
      'The OpenAPI document (3.0 or 3.1): a path relative to this file, or an http(s) address.',
    ),
    server: server.describe(
      'The address of the API. The servers that the document names are never used.',
    ),
    headers: headerTexts
      .optional()
      .describe(
        `Headers for every request. \${NAME} stands for a variable of the environment, which ` +
          'must be set.',
      ),
    query: z
      .record(text, z.string())
      .optional()
      .describe(
        `Sent in the query of every request, such as an API key. \${NAME} stands for a variable ` +
          'of the environment, which must be set.',
      ),
    operations: texts
      .min(1)
      .optional()
      .describe(
        'The ids of the operations to take; * and ? are wildcards. Default: all operations.',
      ),
    prefix: z
      .string()
      .max(100)
      .optional()
      .describe('Put before each id. Default: the key of the API and a dot.'),
    labels: z
      .record(text, toolLabels)
      .optional()
      .describe(
        'What you say of tools, by the ids of operations; * and ? are wildcards. Of several that ' +
          'match, the last counts.',
      ),
    timeout: timeoutOrSeconds
      .optional()
      .describe(
        'The same as timeoutMs, as a text with its unit: "500ms", "5s", "2m" or "1h". A number ' +
          'is in SECONDS; write a unit instead.',
      ),
    timeoutMs: milliseconds
      .optional()
      .describe('The time limit of a call, in milliseconds. Default: 120000.'),
  }),
  [['timeout', 'timeoutMs']],
).meta({
  id: 'OpenApi',
  title: 'HTTP API',
  description: 'An HTTP API with an OpenAPI document, of whose operations the command makes tools.',
});

/** The section `openapi`: APIs by name. */
export const openApiEntry = z.record(
  z
    .string()
    .regex(/^[^\p{C}\p{Z}]{1,64}$/u, 'expected a name of visible text, up to 64 characters'),
  api,
);

export type OpenApiEntry = z.infer<typeof openApiEntry>;
/** One API of a file. */
export type ApiEntry = OpenApiEntry[string];

/** The prefix of the names of an API's tools. */
export function prefixOfApi(
  name: string,
  { prefix = `${name}.` }: Pick<ApiEntry, 'prefix'>,
): string {
  return prefix;
}
