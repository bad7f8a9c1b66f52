/**
 * Node opens its debugger when it gets SIGUSR1, and whoever reaches the debugger can run code in
 * the process. Node's permissions refuse a handler neither signals nor the network, so it could get
 * everything back that they do refuse.
 */

const ignore = (): void => {};

/**
 * Keeps the signal from opening this process's debugger, for as long as the process lives: without
 * a listener, the signal would then end the process. Has no effect in a thread, which gets no
 * signals.
 */
export function ignoreDebuggerSignal(): void {
  if (!process.listeners('SIGUSR1').includes(ignore)) process.on('SIGUSR1', ignore);
}
