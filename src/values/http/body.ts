/**
 * Reads the text of a request's body up to a limit of bytes and time. The caller writes the error
 * message, because a JSON-RPC server and the relay answer errors in different forms.
 */
import { directBody, type ReadDirectly } from './direct-body.ts';

/**
 * Why a body has no text. `too_large`: more than the limit; `too_late`: not complete within
 * {@link bodyTimeoutMs}; `unreadable`: not UTF-8, or cut off.
 */
export type BodyFault = 'too_large' | 'too_late' | 'unreadable';

/** The text of a body; empty for a request without one. */
export type BodyText = { readonly text: string } | { readonly fault: BodyFault };

/** Milliseconds within which a body has to arrive. */
export const bodyTimeoutMs = 30_000;

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads at most `maxBytes` bytes. A body that is larger or late is cancelled. Never rejects. */
export function readBodyText(
  request: Pick<Request, 'body' | 'headers'>,
  maxBytes: number,
): Promise<BodyText> {
  const direct = directBody(request);
  return direct === undefined ? readStream(request, maxBytes) : readWhole(direct, maxBytes);
}

async function readStream(
  request: Pick<Request, 'body' | 'headers'>,
  maxBytes: number,
): Promise<BodyText> {
  const { body } = request;
  if (Number(request.headers.get('content-length')) > maxBytes) {
    await body?.cancel().catch(() => {});
    return { fault: 'too_large' };
  }
  return body === null
    ? { text: '' }
    : readChunks(body.getReader() as ReadableStreamDefaultReader<Uint8Array>, maxBytes);
}

/** Reads a body directly from the server, which limits the time itself. */
async function readWhole(read: ReadDirectly, maxBytes: number): Promise<BodyText> {
  try {
    const bytes = await read(maxBytes);
    return bytes === undefined ? { fault: 'too_large' } : { text: strictUtf8.decode(bytes) };
  } catch {
    return { fault: 'unreadable' };
  }
}

async function readChunks(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
): Promise<BodyText> {
  const stop = (): void => void reader.cancel().catch(() => {});
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    stop();
  }, bodyTimeoutMs);
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    let text = '';
    for (let bytes = 0; ; ) {
      const { done, value } = await reader.read();
      if (late) return { fault: 'too_late' };
      if (done) return { text: text + decoder.decode() };
      bytes += value.byteLength;
      if (bytes > maxBytes) {
        stop();
        return { fault: 'too_large' };
      }
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    return { fault: 'unreadable' };
  } finally {
    clearTimeout(timer);
  }
}
