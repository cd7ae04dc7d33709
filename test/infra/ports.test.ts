import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { choosePort, isListening, LOOPBACK } from '../../infra/ports.ts';

it('a remembered port is chosen again while it is free, and another one when somebody took it', async () => {
  const remembered = await choosePort(undefined);
  expect(await choosePort(remembered)).toBe(remembered);
  const somebody = createServer().listen(remembered, LOOPBACK);
  await once(somebody, 'listening');
  try {
    expect(await isListening(remembered)).toBe(true);
    expect(await choosePort(remembered)).not.toBe(remembered);
  } finally {
    somebody.close();
  }
});
