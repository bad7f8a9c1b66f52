/**
 * The answer to `GET /:code/metadata`: the application and its tools, in the requested version.
 */
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../../core.ts';
import { wireText } from '../../../values/json/index.ts';
import { cleanLine } from '../../shared/outside-text.ts';
import { type ShownTool, shownTool } from '../events/tool-updates.ts';
import type { RelayedDefinition, SessionDocument, ToolsDocument } from '../ports/documents.ts';
import { relayError } from '../relay-error.ts';
import { definitionPause } from '../tools/read-definitions.ts';

/** Versions of the metadata, oldest first. */
const versions = ['1.0.0', '2.0.0'] as const;
export type MetadataVersion = (typeof versions)[number];
const newest: MetadataVersion = '2.0.0';

/** Metadata without the values that change with every call and connection. */
export interface WrittenMetadata {
  /** The JSON in pieces. A value is inserted between every two of them. */
  readonly pieces: readonly string[];
  /**
   * The values between the pieces: the name of a tool stands for the number of calls to it, and
   * undefined for whether an application is connected.
   */
  readonly gaps: readonly (string | undefined)[];
  readonly headers: Readonly<Record<string, string>> & { readonly ETag: string };
}

/** The values that are inserted when metadata is sent. */
export interface PassingMetadata {
  /** The number of calls by tool. */
  readonly usage: ReadonlyMap<string, number>;
  readonly connected: boolean;
}

/**
 * The version that an `Accept-Version` header asks for: the first supported one of its list. `1`
 * and `1.0` mean `1.0.0`; no header and `*` mean the newest.
 * @throws RelayError 406 `version_not_acceptable`
 */
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
    `Requested version ${cleanLine(wanted, 64) || '(unreadable)'} not supported. ` +
      `Supported versions: ${versions.join(', ')}`,
  );
}

/**
 * Describes a session. The same session with the same tools gives the same bytes on every node, and
 * so the same `ETag`. The ETag is a digest of these bytes rather than of revisions, which start
 * again in each process. It is weak, because a client only needs to know whether the tools are the
 * same. `Last-Modified` depends only on the application's tools. Other requests get their turn
 * between tools.
 * @param tools undefined before a registration; type and version are then null, and the tools are
 * those of the host
 * @param shown the effective tools, in their order
 */
export async function describeSession(
  session: SessionDocument,
  tools: ToolsDocument | undefined,
  shown: readonly ShownTool[],
  version: MetadataVersion = newest,
): Promise<WrittenMetadata> {
  const { code } = session;
  const changed = new Date(tools?.updatedAt ?? session.createdAt);
  const { pieces, gaps } =
    version === '1.0.0'
      ? { pieces: [wireText(olderBody(session, shown, changed))], gaps: [] }
      : await newerBody(code, tools, shown, changed);
  const digest = createHash('sha256');
  for (const piece of pieces) digest.update(piece);
  return {
    pieces,
    gaps,
    headers: {
      'API-Version': version,
      'Session-ID': code,
      'Supported-Versions': versions.join(', '),
      ...(version === '1.0.0' ? { 'Tool-Manifest-Version': version } : {}),
      ETag: `W/"${digest.digest('base64url')}"`,
      'Last-Modified': changed.toUTCString(),
      Vary: 'Accept-Version',
    },
  };
}

/** Inserts the current values, and returns the complete JSON. */
export function fillMetadata(
  { pieces, gaps }: Pick<WrittenMetadata, 'pieces' | 'gaps'>,
  { usage, connected }: PassingMetadata,
): string {
  let text = pieces[0] ?? '';
  for (const [index, name] of gaps.entries())
    text += `${name === undefined ? connected : (usage.get(name) ?? 0)}${pieces[index + 1] ?? ''}`;
  return text;
}

/** Whether an `If-None-Match` header contains an ETag or `*`. The comparison is weak. */
export function isNamed(etag: string, ifNoneMatch: string | null): boolean {
  const opaque = (tag: string): string => tag.trim().replace(/^W\//, '');
  return (
    ifNoneMatch?.trim() === '*' ||
    (ifNoneMatch?.split(',').some((tag) => opaque(tag) === opaque(etag)) ?? false)
  );
}

async function newerBody(
  code: string,
  tools: ToolsDocument | undefined,
  shown: readonly ShownTool[],
  changed: Date,
): Promise<Pick<WrittenMetadata, 'pieces' | 'gaps'>> {
  const {
    pluginType = null,
    pluginVersion = null,
    capabilities = [],
    environment = {},
    constraints = {},
  } = tools ?? {};
  const about = wireText({
    apiVersion: newest,
    sessionId: code,
    pluginType,
    pluginVersion,
    capabilities,
    environment,
    constraints,
    toolCount: shown.length,
    lastUpdated: changed.toISOString(),
    supportedOperations: [
      'register-tools',
      ...(tools === undefined ? [] : ['update-tools']),
      'request',
      'tool-availability-update',
      'mcp',
    ],
  });
  const registered = new Map(tools?.definitions.map((one) => [one.name, one]));
  const pieces: string[] = [];
  const gaps: (string | undefined)[] = [];
  let text = `${about.slice(0, -1)},"tools":[`;
  const pause = definitionPause();
  for (const [index, tool] of shown.entries()) {
    await pause();
    const own = registered.get(tool.name);
    if (index > 0) text += ',';
    if (own === undefined || tools === undefined) {
      text += wireText(shownTool(tool));
      continue;
    }
    const json = wireText({ ...shownTool(tool), ...registrationOf(own, tools) });
    pieces.push(`${text}${json.slice(0, -1)},"usageCount":`);
    gaps.push(tool.name);
    text = '}';
  }
  pieces.push(`${text}],"connected":`, '}');
  gaps.push(undefined);
  return { pieces, gaps };
}

/** The members that only a tool has which the application has registered. */
function registrationOf(
  { name, constraints }: RelayedDefinition,
  { registeredAt, changedAt = {} }: ToolsDocument,
): JsonObject {
  const at = Object.hasOwn(changedAt, name) ? changedAt[name] : undefined;
  return {
    ...(constraints === undefined ? {} : { constraints }),
    // Tools that agents cannot call are not listed.
    status: 'active',
    registeredAt: new Date(at ?? registeredAt).toISOString(),
  };
}

/** The body of version 1.0.0: a manifest of the tools, without the application. */
function olderBody(
  { code, expiresAt }: SessionDocument,
  shown: readonly ShownTool[],
  changed: Date,
): JsonObject {
  return {
    apiVersion: '1.0.0',
    toolManifestVersion: '1.0.0',
    supportedVersions: [...versions],
    tools: shown.map(({ name, description, parameters }) => ({
      name,
      description,
      inputSchema: parameters as JsonObject,
    })),
    sessionCode: code,
    generatedAt: changed.toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
  };
}
