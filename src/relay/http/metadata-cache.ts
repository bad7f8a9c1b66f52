/**
 * Keeps the last written metadata of live sessions, so that it is not built again for each request.
 */
import type { HostTool } from '../../index.ts';
import type { LiveSession } from '../calls/live-session.ts';
import type { SessionDocument } from '../ports/documents.ts';
import type { RelayStore } from '../ports/store.ts';
import { readTools } from '../tools/tools-document.ts';
import { describeSession, type MetadataVersion, type WrittenMetadata } from './metadata.ts';

/** Most characters of text that a node keeps. ETags are kept when texts are dropped. */
const mostTextChars = 32 * 1_024 * 1_024;

/** Metadata whose text may have been dropped. */
export interface KeptMetadata extends Pick<WrittenMetadata, 'headers'> {
  readonly text: string | undefined;
}

/** Reads the metadata of sessions. */
export interface MetadataCache {
  /**
   * Reads the current metadata. Its text is only missing if the client has it according to
   * `isKnown`.
   */
  read(
    live: LiveSession,
    document: SessionDocument,
    version: MetadataVersion,
    isKnown: (etag: string) => boolean,
  ): Promise<KeptMetadata>;
}

/** The metadata of one version, and the tools that it describes. */
interface Page {
  /** The list from the session, which gives another list when anything in it changes. */
  readonly tools: readonly HostTool[];
  readonly revision: number;
  written: Promise<KeptMetadata>;
}

/** The texts that a node keeps, and how long they are. */
interface KeptTexts {
  /** Characters by page. The page that was read longest ago comes first. */
  readonly lengths: Map<Page, number>;
  readonly mostChars: number;
  chars: number;
}

/**
 * Makes the cache of a node. Its entries for a session are dropped when the live session closes.
 */
export function createMetadataCache(store: RelayStore, mostChars = mostTextChars): MetadataCache {
  const sessions = new WeakMap<LiveSession, Map<MetadataVersion, Page>>();
  const texts: KeptTexts = { lengths: new Map(), mostChars, chars: 0 };
  const pagesOf = (live: LiveSession): Map<MetadataVersion, Page> => {
    const known = sessions.get(live);
    if (known !== undefined) return known;
    const pages = new Map<MetadataVersion, Page>();
    sessions.set(live, pages);
    live.onClose(() => {
      sessions.delete(live);
      for (const page of pages.values()) forget(texts, page);
      pages.clear();
    });
    return pages;
  };
  return {
    async read(live, document, version, isKnown) {
      const pages = pagesOf(live);
      const tools = live.session.tools();
      const revision = document.toolsRevision;
      for (;;) {
        const page = pages.get(version);
        if (page?.tools !== tools || page.revision !== revision) break;
        const written = await page.written;
        if (written.text !== undefined || isKnown(written.headers.ETag)) {
          if (texts.lengths.has(page)) keep(texts, page, written.text?.length ?? 0);
          return written;
        }
        // Another request may be writing it again by now.
        if (pages.get(version) === page) break;
      }
      const writing = readTools(store, document.code).then((found) =>
        describeSession(document, found?.document, tools, version),
      );
      return put(texts, pages, version, { tools, revision, written: writing }, writing);
    },
  };
}

async function put(
  texts: KeptTexts,
  pages: Map<MetadataVersion, Page>,
  version: MetadataVersion,
  page: Page,
  writing: Promise<WrittenMetadata>,
): Promise<KeptMetadata> {
  const before = pages.get(version);
  if (before !== undefined) forget(texts, before);
  pages.set(version, page);
  try {
    const written = await writing;
    if (pages.get(version) === page) keep(texts, page, written.text.length);
    return written;
  } catch (error) {
    if (pages.get(version) === page) pages.delete(version);
    throw error;
  }
}

function forget(texts: KeptTexts, page: Page): void {
  texts.chars -= texts.lengths.get(page) ?? 0;
  texts.lengths.delete(page);
}

/** Marks a text as the most recently read one, and drops the oldest texts above the limit. */
function keep(texts: KeptTexts, page: Page, length: number): void {
  forget(texts, page);
  texts.lengths.set(page, length);
  texts.chars += length;
  for (const [oldest] of texts.lengths) {
    if (texts.chars <= texts.mostChars) return;
    forget(texts, oldest);
    oldest.written = oldest.written.then(({ headers }) => ({ headers, text: undefined }));
  }
}
