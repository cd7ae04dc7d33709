/**
 * The parts that think, one interface each. The embedded ones live in `models/embedded`; providers implement
 * the same types. A part is a function of its request: it keeps no state between calls, so that a journalled
 * reply can stand in for the call.
 */
import type { Action, Observation, Task, TraceStep } from '../benchmarks/contract.ts';
import type { Assertion, Polarity, Question, SeenAtState } from '../workflows/method/types.ts';

/** Names a model in a run's identity: provider, model, revision. */
export interface ModelIdentity {
  readonly provider: string;
  readonly model: string;
  /** Digest of the prompts or weights that decide its replies. */
  readonly revision: string;
  /** What the model is really asked with, after its capabilities; absent for parts without parameters. */
  readonly effective?: EffectiveParameters;
}

/** By name, as journals and identities show them. */
export type EffectiveParameters = Readonly<Record<string, string | number | boolean | null>>;

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What a call cost. Null where no price is known: never 0 by default. */
export interface CallCost {
  readonly usage: Usage;
  readonly costUsd: number | null;
  /** What came back beside the reply; absent for parts that ask no server. */
  readonly report?: CallReport;
}

export interface CallReport {
  readonly provider: string;
  /** The model's name as the server gave it. */
  readonly model: string;
  /** As they were sent. */
  readonly parameters: EffectiveParameters;
  readonly finishReason: string;
  /** Signs that a page tried to instruct the model, or that the model copied a fence; for people to look at. */
  readonly flags: readonly string[];
}

/** How a reply was lost that the server may have made, and charge for: it came in part or not at all, or was none. */
export type LostReply = 'cut' | 'malformed';

/**
 * A call without a reply, and the money that has gone into it all the same. `cause` is the error itself, where this one
 * only carries the money.
 */
export class UnansweredCall extends Error {
  /** What those of its requests cost that were answered; null: none was. */
  readonly spent: CallCost | null;
  /** Null: the server made none. */
  readonly lostReply: LostReply | null;

  constructor(
    message: string,
    money: { readonly spent: CallCost | null; readonly lostReply: LostReply | null },
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.spent = money.spent;
    this.lostReply = money.lostReply;
  }
}

/** (run seed, shard, training step, task, rollout, browser step): the only source of randomness (invariant 13). */
export type SeedPath = readonly (string | number)[];

// ---- models behind an API --------------------------------------------------------------------------------------

export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** Which model plays a role, as a run's configuration says it. */
export interface EndpointChoice {
  /** The wire format; `openai` is any server that speaks it, vLLM for one. */
  readonly provider: 'openai' | 'anthropic';
  readonly model: string;
  /** Left out: the address that the workplace sets for this provider, else the provider's own. */
  readonly baseUrl?: string;
  /** Environment variable that holds the key; left out: the provider's usual one. */
  readonly apiKeyVariable?: string;
  /** Left out: what the role asks for, where the model takes a temperature. */
  readonly temperature?: number;
  readonly reasoningEffort?: ReasoningEffort;
  readonly maxOutputTokens?: number;
  /** Where the model differs from what the capability table says of its name. */
  readonly capabilities?: Partial<ModelCapabilities>;
  /** In place of the price list's, for models that it does not know. */
  readonly price?: TokenPrice;
  readonly limits?: AccountLimits;
}

/** What a model takes and gives. */
export interface ModelCapabilities {
  readonly temperature: 'always' | 'without-reasoning' | 'never';
  /** Empty: it takes none. */
  readonly reasoningEfforts: readonly ReasoningEffort[];
  /** Log-probabilities of the sampled tokens and their likeliest alternatives. */
  readonly logProbs: 'always' | 'without-reasoning' | 'never';
  /** Ids of prompt and sampled tokens, which training needs. */
  readonly tokenIds: boolean;
  readonly images: boolean;
  /** `completions`: the older endpoint of the OpenAI format, for base models that know no chat template. */
  readonly api: 'chat' | 'completions';
  /** As a judge it scores every action; else an attempt's score stands for each of its actions (METHOD 4.2). */
  readonly stepScores: boolean;
  /** Whether it takes a seed for sampling. */
  readonly seed: boolean;
  /** Whether replies can be held to a JSON schema; else the prompt alone asks for JSON. */
  readonly structuredOutput: boolean;
  /** `text`: the call stands in the text, so that its tokens are known; `native`: the server takes it out. */
  readonly toolCalls: 'native' | 'text';
  /** Played by code, which reads the role's request, sent beside the prompt, in place of the prompt. */
  readonly scripted: boolean;
}

export interface TokenPrice {
  readonly inputUsdPerMillion: number;
  readonly outputUsdPerMillion: number;
}

/** What a provider allows one account, whoever uses it; null: no limit. */
export interface AccountLimits {
  readonly concurrency: number | null;
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
}

/** Everything that a part needs to reach its model. */
export interface ModelEndpoint {
  readonly choice: EndpointChoice;
  /** Null: the provider's own address. */
  readonly baseUrl: string | null;
  /** Null for a server that asks for none. Never logged, never stored. */
  readonly apiKey: string | null;
  readonly gate: ProviderGate;
  /** Dollars of one request; null where no price is known. */
  readonly priceOf: (usage: Usage) => number | null;
  readonly tracer?: ModelTracer;
  readonly codec?: PayloadCodec;
}

/** Watches every request to a model server; a tracer of OpenTelemetry fits behind it. */
export interface ModelTracer {
  /** Runs `work` in a span. What `work` learns of its request it adds; what it throws ends the span and goes on. */
  span<T>(
    name: string,
    attributes: EffectiveParameters,
    work: (add: (attributes: EffectiveParameters) => void) => Promise<T>,
  ): Promise<T>;
}

/**
 * Stands between us and the wire: for gateways that encrypt, compress, or keep personal data from leaving. It sees
 * whole bodies: with a codec nothing is streamed.
 */
export interface PayloadCodec {
  encode(body: string): string;
  decode(text: string): string;
}

/** The door to a provider's account, shared with every other worker. Each HTTP request passes it once. */
export interface ProviderGate {
  /**
   * Waits for a place and for `tokens` (an estimate, prompt and reply together). Throws a retryable error that says
   * what it waited for when that takes too long, and the signal's reason when it is aborted.
   */
  enter(tokens: number, signal: AbortSignal): Promise<Permit>;
}

export interface Permit {
  /**
   * Gives the place back; has to be called however the request ended, and never throws. Usage corrects the estimate;
   * null: unknown. `retryAfterMs` closes the account to everybody for that long.
   */
  leave(ended: { readonly usage: Usage | null; readonly retryAfterMs: number | null }): Promise<void>;
}

/** What every part has that is asked something. */
export interface AskedPart<Request> {
  readonly identity: ModelIdentity;
  /**
   * Dollars that an answer may cost at most, about: every token that the model may write, and the prompt by its length.
   * Null where no price is known; absent for parts that ask no server.
   */
  readonly mostUsd?: (request: Request) => number | null;
}

// ---- policy ------------------------------------------------------------------------------------------------

export interface PolicyRequest {
  readonly task: Task;
  readonly history: readonly TraceStep[];
  readonly observation: Observation;
  /** 0 is greedy. */
  readonly temperature: number;
  readonly seed: SeedPath;
  /** Of the page, elements marked with their refs, and of the task; for policies that look at them. */
  readonly images?: readonly ShownImage[];
}

export interface ShownImage {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/webp';
  readonly base64: string;
  /** What it shows, in words of ours. */
  readonly label: string;
}

/**
 * What the policy did at one browser step, in the terms that the trainer needs.
 * Token ids are the provider's; the embedded policy has one token, the index of the chosen candidate.
 */
export interface PolicyDecision {
  readonly action: Action;
  /** Everything the policy conditioned on, as the trainer will need it again; stored as a blob. */
  readonly prompt: unknown;
  readonly tokenIds: readonly number[];
  /** Of the sampled tokens under the policy that acted, at temperature 1. */
  readonly logProbs: readonly number[];
  /** Half-open range of `tokenIds` that is the tool call; null if none could be parsed. */
  readonly toolCallSpan: readonly [start: number, end: number] | null;
  /** Absent for policies that write no text. */
  readonly said?: PolicyText;
  readonly cost: CallCost;
}

export interface PolicyText {
  readonly text: string;
  /** Half-open range of `text` that is the tool call; null where none was found, or the server took it out. */
  readonly toolCall: readonly [start: number, end: number] | null;
}

export interface Policy extends AskedPart<PolicyRequest> {
  /** Whether it looks at images of tasks of this benchmark; absent: never. */
  readonly looksAtImages?: (benchmark: string) => boolean;
  decide(request: PolicyRequest, signal: AbortSignal): Promise<PolicyDecision>;
}

/** Opens the policy that a rollout uses: the base model with the adapter of that digest, or without one. */
export interface PolicyFactory {
  readonly identity: ModelIdentity;
  open(adapter: Uint8Array | null): Promise<Policy>;
}

// ---- judge -------------------------------------------------------------------------------------------------

export interface JudgedTrace {
  readonly steps: readonly TraceStep[];
  readonly answer: string | null;
  /** Of the observation before each step and, last, the one at the end; null where none was stored. */
  readonly observationDigests: readonly (string | null)[];
}

export interface JudgeRequest {
  readonly task: Task;
  /** One compact trace per judged rollout, in presentation order. */
  readonly traces: readonly JudgedTrace[];
  /** The reply that was no judgement, when this call is the attempt to repair it. */
  readonly repair: InvalidReply | null;
}

export interface JudgedTrajectory {
  /** In [0, 1]. */
  readonly score: number;
  /** In [0, 1], one for every step of the trace. */
  readonly stepScores: readonly number[];
  readonly rationale: string;
}

/** A reply that does not fit what was asked; paid for like any other, and never a number. */
export interface InvalidReply {
  readonly ok: false;
  readonly problem: string;
  readonly text: string;
}

/** One judgement per trace, in the order given. */
export type JudgeReply = { readonly ok: true; readonly judged: readonly JudgedTrajectory[] } | InvalidReply;

export interface Judge extends AskedPart<JudgeRequest> {
  /** One comparative call for the whole group. `readPage` reads what the request names by digest. */
  judge(
    request: JudgeRequest,
    readPage: (digest: string) => Promise<Observation>,
    signal: AbortSignal,
  ): Promise<{ readonly reply: JudgeReply; readonly cost: CallCost }>;
}

// ---- self-verifier -----------------------------------------------------------------------------------------

/** `pYes` in [0, 1], or null where the answer was invalid: an invalid answer is no observation (METHOD 1.1). */
export interface Answer {
  readonly questionId: string;
  readonly version: number;
  readonly pYes: number | null;
  readonly source: 'assertion' | 'model';
}

export interface AnswerRequest {
  readonly seen: SeenAtState;
  readonly questions: readonly Question[];
}

export interface SelfVerifier extends AskedPart<AnswerRequest> {
  /** Answers all questions of one URL state from what METHOD 1.4 shows; one answer per question, in order. */
  answer(
    request: AnswerRequest,
    signal: AbortSignal,
  ): Promise<{ readonly answers: readonly Answer[]; readonly cost: CallCost }>;
}

// ---- selector ----------------------------------------------------------------------------------------------

/** One line of an evidence sheet: a certified question's answer at one URL state (METHOD 6). */
export interface EvidenceLine {
  readonly pathKey: string;
  readonly questionId: string;
  readonly text: string;
  readonly tier: 'path' | 'host' | 'global';
  readonly weight: number;
  readonly lift: number | null;
  readonly pYes: number;
}

export interface EvidenceSheet {
  readonly rolloutId: string;
  readonly lines: readonly EvidenceLine[];
  /** Trajectory evidence V (METHOD 5.1), in [-1, 1]. */
  readonly evidence: number;
}

export interface Candidate {
  readonly sheet: EvidenceSheet;
  readonly trace: readonly TraceStep[];
  readonly answer: string | null;
  readonly finalObservation: Observation | null;
}

/** A keeps the incumbent, B swaps; always in these terms, whatever the presentation order was. */
export type VoteLabel = 'A' | 'B' | 'TIE' | 'INVALID';

export interface VoteRequest {
  readonly task: Task;
  readonly incumbent: Candidate;
  readonly challenger: Candidate;
  /** 0-based; the incumbent is shown first iff it is even (METHOD 6). */
  readonly vote: number;
  readonly temperature: number;
  readonly seed: SeedPath;
}

export interface Selector extends AskedPart<VoteRequest> {
  vote(
    request: VoteRequest,
    signal: AbortSignal,
  ): Promise<{ readonly label: VoteLabel; readonly reason: string; readonly cost: CallCost }>;
}

// ---- question proposer -------------------------------------------------------------------------------------

/** A pair that the bank fails to separate (METHOD 5.1), the better trajectory first. */
export interface UndiscriminatedPair {
  readonly groupId: string;
  readonly task: Task;
  readonly better: ProposerTrajectory;
  readonly worse: ProposerTrajectory;
}

export interface ProposerTrajectory {
  readonly rolloutId: string;
  readonly judgeScore: number;
  readonly rationale: string;
  readonly trace: readonly TraceStep[];
  readonly states: readonly SeenAtState[];
}

export interface QuestionDraft {
  readonly text: string;
  readonly scope: string;
  readonly polarity: Polarity;
  readonly assertion: Assertion | null;
  /** The group whose rationales it came from: its observations never count for it (METHOD 5.2). */
  readonly groupId: string;
}

export interface ProposeRequest {
  readonly pairs: readonly UndiscriminatedPair[];
  /** Host keys with traffic but without a certified question. */
  readonly uncoveredHosts: readonly string[];
  readonly existing: readonly Question[];
  /** 3 to 5 (METHOD 5). */
  readonly count: { readonly min: number; readonly max: number };
  readonly seed: SeedPath;
}

export interface Proposer extends AskedPart<ProposeRequest> {
  propose(
    request: ProposeRequest,
    signal: AbortSignal,
  ): Promise<{ readonly drafts: readonly QuestionDraft[]; readonly cost: CallCost }>;
}

// ---- translator: a bank for other sites (DESIGN 2.3) -----------------------------------------------------------

export interface TranslateRequest {
  readonly questions: readonly Question[];
  /** The new sites and what is done there. */
  readonly target: string;
  readonly seed: SeedPath;
}

export type Translation =
  | { readonly decision: 'keep' | 'drop'; readonly reason: string }
  | { readonly decision: 'rewrite'; readonly reason: string; readonly text: string; readonly scope: string };

/** Ways of failing that agents have on live sites. */
export const failureModes = [
  'bot-block',
  'wandering',
  'made-up-extraction',
  'partial-filters',
  'search-for-detail',
  'wrong-answer',
] as const;

export type FailureMode = (typeof failureModes)[number];

export interface ExpandRequest {
  readonly modes: readonly FailureMode[];
  readonly perMode: number;
  readonly target: string;
  readonly existing: readonly Question[];
  readonly seed: SeedPath;
}

export interface FailureQuestion {
  readonly mode: FailureMode;
  readonly text: string;
  readonly scope: string;
  readonly polarity: 1 | -1;
}

export interface Translator extends AskedPart<TranslateRequest | ExpandRequest> {
  /** One for every question, in order; null where the model decided nothing that can be used. */
  translate(
    request: TranslateRequest,
    signal: AbortSignal,
  ): Promise<{ readonly translations: readonly (Translation | null)[]; readonly cost: CallCost }>;
  expand(
    request: ExpandRequest,
    signal: AbortSignal,
  ): Promise<{ readonly questions: readonly FailureQuestion[]; readonly cost: CallCost }>;
}

// ---- trainer -----------------------------------------------------------------------------------------------

/** One browser step of a batch: the format that every trainer takes. */
export interface BatchStep {
  readonly rolloutId: string;
  readonly index: number;
  /** Digest of the decision's `prompt`. */
  readonly promptDigest: string;
  readonly tokenIds: readonly number[];
  readonly oldLogProbs: readonly number[];
  /** Half-open; null: the step has no tool call and no gradient. */
  readonly toolCallSpan: readonly [start: number, end: number] | null;
  /** Constant over the tool-call span (METHOD 4.5). */
  readonly advantage: number;
}

export interface Batch {
  readonly version: 1;
  readonly runId: string;
  readonly shard: number;
  readonly trainingStep: number;
  /** Digest of the adapter that acted; null: the base model. */
  readonly adapterDigest: string | null;
  readonly steps: readonly BatchStep[];
  readonly summary: BatchSummary;
}

/** For the record: means over the members (rollout, browser step) of the batch. */
export interface BatchSummary {
  readonly reward: number;
  /** The part of the reward that the self-verifier added. */
  readonly verifier: number;
  /** Share of members without a URL stratum that varies, in [0, 1] (METHOD 4.4). */
  readonly deadShare: number;
}

export interface TrainerMetrics {
  readonly loss: number;
  /** Mean over masked tokens of the estimator in METHOD 8, against the acting policy. */
  readonly kl: number;
  /** Share of masked tokens whose ratio was clipped, in [0, 1]. */
  readonly clipShare: number;
  readonly gradientNorm: number;
}

export interface TrainerSettings {
  readonly learningRate: number;
  readonly epsLow: number;
  readonly epsHigh: number;
  readonly kl: number;
  readonly lossNorm: 'token' | 'sequence' | 'step';
  readonly maxGradientNorm: number | null;
}

export interface MergedAdapter {
  readonly adapter: Uint8Array;
  /** Relative Frobenius distance between the two ways of merging: what averaging the factors costs; from 0. */
  readonly averagingError: number;
}

export interface Trainer {
  readonly identity: ModelIdentity;
  /** The adapter that every shard of a run starts from: same seed, same bytes. */
  initialAdapter(seed: SeedPath): Promise<Uint8Array>;
  /** Pure: same batch, adapter, prompts and settings, same bytes. */
  update(
    request: {
      readonly batch: Batch;
      readonly adapter: Uint8Array;
      readonly readPrompt: (digest: string) => Promise<unknown>;
      readonly settings: TrainerSettings;
    },
    signal: AbortSignal,
  ): Promise<{ readonly adapter: Uint8Array; readonly metrics: TrainerMetrics }>;
  /** Merges the shards' adapters (METHOD 5.6); refuses adapters of different shape. */
  merge(adapters: readonly Uint8Array[], how: 'average' | 'product'): Promise<MergedAdapter>;
}
