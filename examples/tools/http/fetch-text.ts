export interface Page {
  readonly status: number;
  readonly text: string;
  /** Whether the body went on after `maxBytes`. */
  readonly cut: boolean;
  /** Whether the server pointed elsewhere; nothing was fetched from there. */
  readonly redirected: boolean;
}

/**
 * `target` as an address of an allowed origin, or undefined. The parsed address is judged, so that
 * `//other`, `\\other`, `http:other` and `user@` tricks do not count.
 */
export function resolveTarget(target: string, allowedOrigins: readonly string[]): URL | undefined {
  const [base] = allowedOrigins;
  if (base === undefined || !URL.canParse(target, base)) return undefined;
  const url = new URL(target, base);
  return allowedOrigins.includes(url.origin) && url.username === '' && url.password === ''
    ? url
    : undefined;
}

/**
 * Fetches at most `maxBytes` of a page; undefined where the server cannot be reached. Rejects with
 * the signal's reason when it fires.
 */
export async function fetchText(
  url: URL,
  { signal, maxBytes }: { signal: AbortSignal; maxBytes: number },
): Promise<Page | undefined> {
  const response = await fetch(url, {
    signal,
    redirect: 'manual',
    credentials: 'omit',
    headers: { accept: 'application/json, text/*' },
  }).catch((error) => {
    signal.throwIfAborted();
    if (error instanceof TypeError) return undefined;
    throw error;
  });
  if (response === undefined) return undefined;
  if (response.status >= 300 && response.status < 400) {
    await response.body?.cancel();
    return { status: response.status, text: '', cut: false, redirected: true };
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop early ends the transfer.
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) break;
  }
  return {
    status: response.status,
    text: new TextDecoder().decode(Buffer.concat(chunks).subarray(0, maxBytes)),
    cut: length > maxBytes,
    redirected: false,
  };
}
