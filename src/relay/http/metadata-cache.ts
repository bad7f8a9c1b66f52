/**
 * The metadata of live sessions as it was written last: whoever asks again is answered without
 * anything being built.
 */
import type { HostTool } from '../../index.ts';
import type { LiveSession } from '../calls/live-session.ts';
import type { SessionDocument } from '../ports/documents.ts';
import type { RelayStore } from '../ports/store.ts';
import { readTools } from '../tools/tools-document.ts';
import { describeSession, type MetadataVersion, type WrittenMetadata } from './metadata.ts';

/** Most characters of text that a node keeps. The ETags stay when texts have to go. */
const mostTextChars = 32 * 1_024 * 1_024;

/** Metadata whose text may be gone for want of room. */
export interface KeptMetadata extends Pick<WrittenMetadata, 'headers'> {
  readonly text: string | undefined;
}

/** Reads the metadata of sessions. */
export interface MetadataCache {
  /** As it is now. The text is there, unless `isKnown` says of the ETag that the client has it. */
  read(
    live: LiveSession,
    document: SessionDocument,
    version: MetadataVersion,
    isKnown: (etag: string) => boolean,
  ): Promise<KeptMetadata>;
}

/** What was written of one version, and of which tools. */
interface Page {
  /** The list that the session gave: another one is given when anything in it changes. */
  readonly tools: readonly HostTool[];
  readonly revision: number;
  written: Promise<KeptMetadata>;
}

/** Makes the cache of a node. What it keeps of a session goes with the live session. */
export function createMetadataCache(store: RelayStore, mostChars = mostTextChars): MetadataCache {
  const sessions = new WeakMap<LiveSession, Map<MetadataVersion, Page>>();
  /**
   * Pages whose texts are kept, and how long those are: the one that was read longest ago comes
   * first.
   */
  const texts = new Map<Page, number>();
  let chars = 0;

  const forget = (page: Page): void => {
    chars -= texts.get(page) ?? 0;
    texts.delete(page);
  };
  const keep = (page: Page, length: number): void => {
    forget(page);
    texts.set(page, length);
    chars += length;
    for (const [oldest] of texts) {
      if (chars <= mostChars) return;
      forget(oldest);
      oldest.written = oldest.written.then(({ headers }) => ({ headers, text: undefined }));
    }
  };
  const pagesOf = (live: LiveSession): Map<MetadataVersion, Page> => {
    const known = sessions.get(live);
    if (known !== undefined) return known;
    const pages = new Map<MetadataVersion, Page>();
    sessions.set(live, pages);
    live.onClose(() => {
      sessions.delete(live);
      for (const page of pages.values()) forget(page);
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
          if (texts.has(page)) keep(page, written.text?.length ?? 0);
          return written;
        }
        // Somebody else may be writing it again by now.
        if (pages.get(version) === page) break;
      }
      const writing = readTools(store, document.code).then((found) =>
        describeSession(document, found?.document, tools, version),
      );
      const page: Page = { tools, revision, written: writing };
      const before = pages.get(version);
      if (before !== undefined) forget(before);
      pages.set(version, page);
      try {
        const written = await writing;
        if (pages.get(version) === page) keep(page, written.text.length);
        return written;
      } catch (error) {
        if (pages.get(version) === page) pages.delete(version);
        throw error;
      }
    },
  };
}
