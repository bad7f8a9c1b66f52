/** Runs `host-tools relay` inside the test. */
import { cli } from './cli-run.ts';

/** Runs the command until `use` is done with it. */
export async function served(
  argv: readonly string[],
  use: (url: string, interrupt: () => void) => Promise<void>,
  env: Record<string, string> = {},
) {
  const interrupt = new AbortController();
  let tell: (url: string) => void = () => {};
  const listening = new Promise<string>((resolve) => {
    tell = resolve;
  });
  const ran = cli(['relay', '--port', '0', ...argv], {
    signal: interrupt.signal,
    env,
    onStderr(text) {
      const [, url] = /The relay listens at (http:[^\s"]+)/.exec(text) ?? [];
      if (url !== undefined) tell(url);
    },
  });
  try {
    await use(
      await Promise.race([listening, ran.then(({ stderr }) => Promise.reject(new Error(stderr)))]),
      () => interrupt.abort(),
    );
  } finally {
    interrupt.abort();
  }
  return ran;
}

export const post = async (url: string, body: unknown, token?: string) => {
  const headers = {
    'content-type': 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Record<string, never> };
};
