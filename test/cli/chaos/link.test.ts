import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openLink } from '../../../cli/chaos/link.ts';

/** Also of one that is reset. */
const closed = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve));

test('a link carries bytes both ways, resets them when it is cut, and carries again when it is mended', async () => {
  const echo = createServer((socket) => socket.pipe(socket).on('error', () => undefined));
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const address = echo.address();
  const link = await openLink(typeof address === 'object' && address !== null ? address.port : 0);
  onTestFinished(async () => {
    await link.close();
    echo.close();
  });
  const dial = async () => {
    const socket = connect(link.port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  };
  const ask = async (socket: Awaited<ReturnType<typeof dial>>, text: string) => {
    socket.write(text);
    return String((await once(socket, 'data'))[0]);
  };

  const first = await dial();
  expect(await ask(first, 'over')).toBe('over');
  expect(link.open).toBe(1);
  link.cut();
  await closed(first);
  expect(link.open).toBe(0);

  const refused = connect(link.port, '127.0.0.1');
  refused.on('error', () => undefined);
  await closed(refused);
  link.mend();
  const again = await dial();
  expect(await ask(again, 'and out')).toBe('and out');
  again.destroy();
});
