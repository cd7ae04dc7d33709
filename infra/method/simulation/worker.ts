/** Thread of the simulation: computes the section it is named and posts it. */
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { simulate } from './experiments.ts';

parentPort?.postMessage(simulate(z.string().parse(workerData)));
