# SPDX-License-Identifier: GPL-2.0-or-later
# sarif_schema.py SCHEMA FILE...: is each file valid by SARIF's published schema? Says what is not, and fails.
import json
import sys

import jsonschema

with open(sys.argv[1], encoding='utf-8') as f:
    schema = json.load(f)
validator = jsonschema.validators.validator_for(schema)(schema)
wrong = 0
for path in sys.argv[2:]:
    with open(path, encoding='utf-8') as f:
        for e in validator.iter_errors(json.load(f)):
            print(f'{path}: {"/".join(map(str, e.path))}: {e.message[:300]}')
            wrong += 1
sys.exit(1 if wrong else 0)
