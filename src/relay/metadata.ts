/** What `GET /:code/metadata` answers: who the application is and which tools there are, in the version that was asked for. */
import { createHash } from 'node:crypto';
import type { JsonObject, JsonSchema } from '../index.ts';
import { cleanLine } from '../shown/outside-text.ts';
import type { SessionDocument, ToolsDocument } from './documents.ts';
import { relayError } from './relay-error.ts';

/** Versions of the metadata, oldest first. */
const versions = ['1.0.0', '2.0.0'] as const;
export type MetadataVersion = (typeof versions)[number];
const newest: MetadataVersion = '2.0.0';

/** A tool as the session shows it. */
export interface ShownTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly title?: string;
  readonly annotations?: JsonObject;
}

/** The version that an `Accept-Version` header asks for: the first of its list that there is; `1` and `1.0` mean `1.0.0`, nothing and `*` the newest. @throws RelayError 406 `version_not_acceptable` */
export function negotiateVersion(acceptVersion: string | null): MetadataVersion {
  const wanted = (acceptVersion ?? '').slice(0, 200).trim();
  if (wanted === '') return newest;
  for (const one of wanted.split(',').map((item) => item.trim())) {
    if (one === '*') return newest;
    const found = versions.find((version) => one !== '' && `${version}.`.startsWith(`${one}.`));
    if (found !== undefined) return found;
  }
  throw relayError(
    406,
    'version_not_acceptable',
    `Requested version ${cleanLine(wanted, 64) || '(none that can be read)'} not supported. Supported versions: ${versions.join(', ')}`,
  );
}

/**
 * Describes a session. The same session with the same tools gives the same bytes, therefore the same `ETag`; `Last-Modified` follows the application's tools alone.
 * @param tools undefined before a registration: type and version are then null, and the tools are the host's
 * @param shown the effective tools, in their order
 */
export function describeSession(
  session: SessionDocument,
  tools: ToolsDocument | undefined,
  shown: readonly ShownTool[],
  version: MetadataVersion = newest,
): { readonly body: JsonObject; readonly headers: Readonly<Record<string, string>> } {
  const { code } = session;
  const changed = new Date(tools?.updatedAt ?? session.createdAt);
  const body = version === '1.0.0' ? olderBody(session, shown, changed) : newerBody(code, tools, shown, changed);
  const hash = createHash('sha256').update(JSON.stringify(body)).digest('base64url');
  return {
    body,
    headers: {
      'API-Version': version,
      'Session-ID': code,
      'Supported-Versions': versions.join(', '),
      ...(version === '1.0.0' ? { 'Tool-Manifest-Version': version } : {}),
      ETag: `"${hash}"`,
      'Last-Modified': changed.toUTCString(),
      Vary: 'Accept-Version',
    },
  };
}

function newerBody(code: string, tools: ToolsDocument | undefined, shown: readonly ShownTool[], changed: Date): JsonObject {
  const { pluginType = null, pluginVersion = null, capabilities = [], environment = {} } = tools ?? {};
  return {
    apiVersion: newest,
    sessionId: code,
    pluginType,
    pluginVersion,
    capabilities,
    tools: shown.map((tool) => ({ ...tool }) as JsonObject),
    environment,
    toolCount: shown.length,
    lastUpdated: changed.toISOString(),
    supportedOperations: ['register-tools', ...(tools === undefined ? [] : ['update-tools']), 'request', 'tool-availability-update', 'mcp'],
  };
}

/** The older manifest, which knows nothing of applications. */
function olderBody({ code, expiresAt }: SessionDocument, shown: readonly ShownTool[], changed: Date): JsonObject {
  return {
    apiVersion: '1.0.0',
    toolManifestVersion: '1.0.0',
    supportedVersions: [...versions],
    tools: shown.map(({ name, description, parameters }) => ({ name, description, inputSchema: parameters as JsonObject })),
    sessionCode: code,
    generatedAt: changed.toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
  };
}
