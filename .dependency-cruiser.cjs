/**
 * The walls of the house. Each rule names the wall it guards; `npm run check` runs them.
 *
 * Rooms: workflows (method inside it is pure), activities, benchmarks, models, bank-store, workers, cli,
 * dashboard, infra; test mirrors them.
 */

const TYPE_ONLY = ['type-only'];

/** Where a room's contract lies: types that other rooms may import. */
const CONTRACTS = '^(activities/contracts|benchmarks/contract|models/contract|bank-store/contract)[.]ts$';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'wall-1-method-is-pure',
      comment: 'An equation imports equations: no package, no Node module, no other room.',
      severity: 'error',
      from: { path: '^workflows/method/' },
      to: { pathNot: '^workflows/method/' },
    },
    {
      name: 'wall-2-workflows-are-deterministic',
      comment: 'Workflows import the method, their siblings and Temporal; everything else is an activity.',
      severity: 'error',
      from: { path: '^workflows/[^/]+[.]ts$' },
      to: {
        pathNot: [
          '^workflows/',
          'node_modules/@temporalio/(workflow|common)/',
          '^activities/contracts[.]ts$',
        ],
      },
    },
    {
      name: 'wall-2-activities-are-types-to-workflows',
      comment: 'A value import of an activity would pull it into the workflow bundle.',
      severity: 'error',
      from: { path: '^workflows/' },
      to: { path: '^activities/', dependencyTypesNot: TYPE_ONLY },
    },
    {
      name: 'wall-3-bank-store-is-memory-only',
      comment: 'The store knows the method, contracts, pg and zod. It never knows Temporal.',
      severity: 'error',
      from: { path: '^bank-store/' },
      to: {
        pathNot: [
          '^bank-store/',
          '^workflows/method/',
          CONTRACTS,
          '^benchmarks/schemas[.]ts$',
          'node_modules/(@types/)?(pg|zod|canonicalize)/',
        ],
        dependencyTypesNot: ['core'],
      },
    },
    {
      name: 'wall-3-contracts-are-types-to-the-bank-store',
      comment: 'The store stores what other rooms describe; of their code it runs schemas only.',
      severity: 'error',
      from: { path: '^bank-store/' },
      to: {
        path: '^(activities|benchmarks|models)/',
        pathNot: '^benchmarks/schemas[.]ts$',
        dependencyTypesNot: TYPE_ONLY,
      },
    },
    {
      name: 'wall-4-activities-are-strangers',
      comment: 'One folder per task queue: what two need lies beside the folders, parts are handed in.',
      severity: 'error',
      from: { path: '^activities/([^/]+)/' },
      to: { path: '^activities/[^/]+/', pathNot: '^activities/$1/' },
    },
    {
      name: 'wall-4-activities-start-no-workflow',
      comment: 'Of workflows/ an activity may import equations, names and the words for faults.',
      severity: 'error',
      from: { path: '^activities/' },
      to: { path: '^workflows/', pathNot: '^workflows/(method/|(names|faults)[.]ts$)' },
    },
    {
      name: 'wall-5-activities-get-their-parts',
      comment: 'Activities meet benchmarks, models and the store at contracts; workers/ and cli/ join them.',
      severity: 'error',
      from: { path: '^activities/' },
      to: {
        path: '^(benchmarks|models|bank-store|workers|cli|dashboard|infra)/',
        pathNot: [CONTRACTS, '^benchmarks/schemas[.]ts$'],
      },
    },
    {
      name: 'wall-5-models-know-contracts',
      comment: 'A model part knows the method and contracts; never the store, Temporal or an activity.',
      severity: 'error',
      from: { path: '^models/' },
      to: {
        path: [
          '^(workflows|activities|benchmarks|bank-store|workers|cli|dashboard|infra)/',
          'node_modules/@temporalio/',
        ],
        pathNot: ['^workflows/method/', '^(activities/contracts|benchmarks/contract)[.]ts$'],
      },
    },
    {
      name: 'wall-5-contracts-are-types-to-models',
      comment: 'A model part runs no code of an activity or a benchmark.',
      severity: 'error',
      from: { path: '^models/' },
      to: { path: '^(activities|benchmarks)/', dependencyTypesNot: TYPE_ONLY },
    },
    {
      name: 'wall-5-benchmarks-are-places',
      comment: 'A benchmark knows the method and its contract; never who visits it.',
      severity: 'error',
      from: { path: '^benchmarks/' },
      to: {
        path: [
          '^(workflows|activities|models|bank-store|workers|cli|dashboard|infra)/',
          'node_modules/@temporalio/',
        ],
        pathNot: '^workflows/method/',
      },
    },
    {
      name: 'wall-5-infra-is-ground',
      comment:
        'The ground carries the house and knows none of its rooms, but for the settings and the equations. ' +
        'Benches, the maker of the base weights and the check of a local model are no ground: they run the house.',
      severity: 'error',
      from: { path: '^infra/', pathNot: '^infra/(base-policy|bench|local-model)/' },
      to: {
        path: '^(workflows|activities|benchmarks|models|bank-store|workers|cli|dashboard)/',
        pathNot: ['^workflows/method/', '^workers/settings[.]ts$'],
      },
    },
    {
      name: 'wall-5-only-front-doors-join',
      comment: 'Only cli/ and workers/ may import what joins the parts.',
      severity: 'error',
      from: { pathNot: '^(cli|workers|test|infra/bench)/' },
      to: { path: '^(cli|workers)/', pathNot: '^workers/settings[.]ts$' },
    },
    {
      name: 'wall-6-no-cycles',
      comment: 'A cycle hides which of two files comes first.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'wall-6-no-orphans',
      comment:
        'A file that nothing imports and that imports nothing is dead. A page script is read, not imported.',
      severity: 'error',
      from: { orphan: true, pathNot: ['^test/', '^cli/main[.]ts$', '/client[.]js$'] },
      to: {},
    },
    {
      name: 'wall-6-tests-are-a-mirror',
      comment: 'Nothing of the house looks into the mirror.',
      severity: 'error',
      from: { pathNot: '^test/' },
      to: { path: '^test/' },
    },
    {
      name: 'resolvable',
      comment: 'An import that leads nowhere.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'declared-packages',
      comment: 'A package that package.json does not name is there by accident.',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'production-runs-without-development-packages',
      comment: 'Only tests, the checks and `clift test` may need what a production installation leaves out.',
      severity: 'error',
      from: {
        pathNot: ['^test/', '^cli/commands/test[.]ts$', '^infra/test-summary[.]ts$', '^infra/check[.]ts$'],
      },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: TYPE_ONLY, pathNot: 'node_modules/@types/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    moduleSystems: ['es6'],
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.json'],
    },
  },
};
