"""Ordinary prompts, which no memory of other people's conversations bears on.

As people type them to a coding agent: orders, acknowledgements, questions about the code at hand,
pasted logs and stack traces, and files of 4,000 characters; a sixth is not English.
"""

# ruff: noqa: E501 - logs as they are pasted

from __future__ import annotations

import argparse
import ast
import csv
import difflib
import heapq
import inspect
import json
import mailbox
import shelve
import textwrap
import zipfile

ORDERS = """\
run the tests
run the tests again
commit and push
continue
go on
yes
no, undo that
ok
looks good, thanks
fix the typo in parse()
fix it
try again
now do the same for the other file
add type hints
add a docstring to this function
rename x to count
remove the dead code
format the file
run the linter and fix what it reports
make the tests pass
write a test for the empty case
split this function in two
move the helper to its own module
update the changelog
bump the version to 1.4.2
revert the last commit
squash the last three commits
rebase on main and resolve the conflicts
open a pull request
show me the diff
what changed since yesterday's build?
why does this test fail?
what does this function do?
explain this regular expression
how do I run a single test?
where is the entry point of this program?
which files import this module?
is this thread-safe?
can this be done in one query?
why is the build so slow?
what is the type of this expression?
does this loop ever terminate?
how many lines does the largest file have?
do the tests cover the error path?
should this be a class or a function?
what would be a better name for it?
list the files in this directory
print the first ten rows of the table
delete the temporary files
install the dependencies
create a virtual environment
upgrade the packages and run everything again
add logging to the request handler
log the time that each request takes
cache the result of the lookup
retry the request three times with a growing pause
handle the timeout
validate the input before it is saved
return 404 if it is not found
use a context manager here
replace the loop by a comprehension
make this function async
add an index on the created_at column
write a migration that drops the column
convert the config from JSON to TOML
read the settings from the environment
make the button blue and centre it
the page is blank after login, please look into it
add pagination to the list
sort the table by date, newest first
translate the error messages to German
add a dark mode
the header overlaps the menu on small screens
write a Dockerfile for this
set up continuous integration
deploy it to staging
check the logs for errors
restart the server
kill the process that listens on port 8080
what is using so much memory?
profile the import and tell me the slowest part
make it faster
simplify this
too complicated, think again
stop, that is the wrong file
use the other approach
keep the old behaviour behind a flag
please don't change the public interface
don't add comments
shorter
more detail please
summarise what you did
write the commit message
what is left to do?
generate ten rows of sample data
parse this date: 2024-03-17T10:00:00Z
convert 3.5 GB to bytes
what is the square root of 1764?
write a regular expression for email addresses
explain the difference between a process and a thread
what is a monad?
how does garbage collection work in Go?
write a haiku about recursion
draft a polite reply that declines the meeting
count the words in README.md
open src/main.rs and fix the borrow checker error
look at utils.ts, line 42
undo the change to config.yaml
the variable is never read, remove it
merge the two dictionaries
check whether the list is sorted
compute the checksum of the download
encrypt the field before it is stored
add a unit test with a mock of the clock
the snapshot is out of date, update it
extract the constants
catch the exception and show a warning
turn the warning into an error
make the script executable
add a flag --dry-run
print usage if there are no arguments
support Windows paths
the encoding is wrong, it should be UTF-8
strip trailing whitespace in all files
pin the versions
why did you delete that?
are you sure?
wait
hello
good morning, let's start
thanks, that's all for today"""

ELSEWHERE = """\
führe die Tests aus
mach weiter
behebe den Tippfehler in der Überschrift
warum schlägt der Test fehl?
schreib eine Funktion, die die Liste sortiert
räum die Importe auf und formatiere die Datei
was macht diese Methode?
lance les tests
continue, s'il te plaît
corrige la faute dans le titre
pourquoi la compilation échoue-t-elle ?
ajoute une colonne à la table
supprime les fichiers temporaires
ejecuta las pruebas
sigue con lo siguiente
¿por qué falla la compilación?
añade un botón para guardar los cambios
borra los archivos temporales
esegui i test
perché il test fallisce?
aggiungi una colonna alla tabella
rode os testes de novo
corrija o erro de digitação no título
voer de tests uit
waarom faalt de build?
uruchom testy
popraw literówkę w nagłówku
kör testerna igen
запусти тесты ещё раз
исправь опечатку в заголовке
почему падает сборка?
テストを実行して
この関数を説明してください
続けて
运行测试
修复标题中的拼写错误
为什么构建失败?
테스트를 실행해 줘
testleri çalıştır
derleme neden başarısız oluyor?"""

WITH_PRONOUNS = """\
what do they return?
why are they failing?
can we do this in one query?
do we need a lock here?
should we split it in two?
what happens if they are empty?
where do we call it?
how do we test that?
did we forget the header?
why did they deprecate it?
how can I reproduce it?
what did I break?
which of them is faster?
are they equal?
when should I use a tuple?
what would you do in my place?
is my syntax right?
where do I put this file?
what is their type?
who calls them?
how do I exit vim?
what did we change in this branch?
do they run in parallel?
can they be merged?
why is my test slow?
do we still need this import?
what have we got so far?
how long do they take?
where are they defined?
why don't they match?
how do I undo my last commit?
could we cache their results?
what should I call this variable?
why does my loop never end?
did they fix that bug in the last release?
do we close the connection when we are done?
what do we lose if we drop the index?
how many of them are still open?
can I delete my local branch now?
which port does my server listen on?"""
"""Questions about the code at hand that have a word for a person, as those about people have."""

PASTED = (
    """Traceback (most recent call last):
  File "/srv/app/worker.py", line 88, in run
    self.handle(message)
  File "/srv/app/worker.py", line 131, in handle
    payload = json.loads(message.body)
  File "/usr/lib/python3.12/json/decoder.py", line 338, in decode
    obj, end = self.raw_decode(s, idx=_w(s, 0).end())
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)""",
    """why?
Exception in thread "main" java.lang.NullPointerException: Cannot invoke "String.length()" because "name" is null
\tat com.example.shop.Order.validate(Order.java:57)
\tat com.example.shop.Checkout.submit(Checkout.java:112)
\tat com.example.shop.Main.main(Main.java:19)""",
    """thread 'main' panicked at src/lexer.rs:204:17:
index out of bounds: the len is 12 but the index is 12
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace""",
    """panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x18 pc=0x47e3a1]

goroutine 1 [running]:
main.(*Server).route(0x0, 0xc00001c0a8)
\t/go/src/server/route.go:41 +0x21
main.main()
\t/go/src/server/main.go:23 +0x85""",
    """TypeError: Cannot read properties of undefined (reading 'map')
    at ProductList (webpack-internal:///./components/ProductList.jsx:31:24)
    at renderWithHooks (react-dom.development.js:16305:18)
    at mountIndeterminateComponent (react-dom.development.js:20074:13)
    at beginWork (react-dom.development.js:21587:16)""",
    """2024-06-02 10:14:55,120 INFO  Starting worker pool with 8 threads
2024-06-02 10:14:55,904 WARN  Connection to redis lost, reconnecting in 5 s
2024-06-02 10:15:00,911 ERROR Could not connect: [Errno 111] Connection refused
2024-06-02 10:15:00,912 INFO  Shutting down
what is wrong here?""",
    """npm ERR! code ERESOLVE
npm ERR! ERESOLVE unable to resolve dependency tree
npm ERR! Found: react@18.2.0
npm ERR! Could not resolve dependency:
npm ERR! peer react@"^17.0.0" from react-table@7.7.0""",
    """error[E0502]: cannot borrow `cache` as mutable because it is also borrowed as immutable
  --> src/store.rs:77:9
   |
75 |     let entry = cache.get(&key);
   |                 ----- immutable borrow occurs here
77 |     cache.insert(key, value);
   |     ^^^^^^^^^^^^^^^^^^^^^^^^ mutable borrow occurs here""",
    """src/app/form.ts(58,13): error TS2322: Type 'string | undefined' is not assignable to type 'string'.
  Type 'undefined' is not assignable to type 'string'.""",
    """/usr/bin/ld: main.o: in function `main':
main.c:(.text+0x1c): undefined reference to `sqrt'
collect2: error: ld returned 1 exit status
make: *** [Makefile:7: main] Error 1""",
    """FAILED tests/test_cart.py::test_total_with_discount - AssertionError: assert Decimal('18.00') == Decimal('17.10')
FAILED tests/test_cart.py::test_empty - KeyError: 'items'
2 failed, 41 passed, 3 skipped in 2.91s""",
    """CONFLICT (content): Merge conflict in app/models/user.rb
Automatic merge failed; fix conflicts and then commit the result.""",
    """psycopg2.errors.UniqueViolation: duplicate key value violates unique constraint "users_email_key"
DETAIL:  Key (email)=(test@example.com) already exists.""",
    """kernel: Out of memory: Killed process 28311 (java) total-vm:9134212kB, anon-rss:6021140kB
systemd[1]: app.service: Main process exited, code=killed, status=9/KILL
systemd[1]: app.service: Failed with result 'signal'.""",
    """127.0.0.1 - - [12/Mar/2024:08:12:44 +0000] "GET /api/v2/items?page=3 HTTP/1.1" 500 1721 "-" "curl/8.4.0"
127.0.0.1 - - [12/Mar/2024:08:12:46 +0000] "GET /health HTTP/1.1" 200 2 "-" "kube-probe/1.28"
every fifth request fails, find out why""",
    """$ docker compose up
 => ERROR [web 5/7] RUN pip install -r requirements.txt
 > [web 5/7] RUN pip install -r requirements.txt:
12.44 ERROR: No matching distribution found for numpy==1.99.0""",
    """diff --git a/lib/router.js b/lib/router.js
-  const match = path.match(route.pattern)
+  const match = route.pattern.exec(path)
   if (!match) return next()
review this""",
    """SELECT o.id, o.total, c.country FROM orders o JOIN customers c ON c.id = o.customer_id
WHERE o.created_at > now() - interval '30 days' GROUP BY 1, 2, 3 HAVING count(*) > 1;
this takes 40 seconds, make it faster""",
    """{"level":"error","ts":1717324500.12,"caller":"http/server.go:88","msg":"write failed","error":"broken pipe"}
{"level":"info","ts":1717324501.40,"caller":"http/server.go:52","msg":"request served","status":200}""",
    """WARNING: The script wheel is installed in '/root/.local/bin' which is not on PATH.
ERROR: pip's dependency resolver does not currently take into account all the packages that are installed.""",
)

MODULES = (argparse, ast, csv, difflib, heapq, inspect, json, mailbox, shelve, textwrap, zipfile)
FILE_CHARACTERS = 4000


def prompts() -> dict[str, list[str]]:
    """Return the prompts by class."""
    sources = [inspect.getsource(module) for module in MODULES]
    return {
        "orders": ORDERS.split("\n"),
        "with we, they or my": WITH_PRONOUNS.split("\n"),
        "orders in other languages": ELSEWHERE.split("\n"),
        "logs and traces": [*PASTED],
        "files of 4,000 characters": [
            f"{order}\n\n{source[at : at + FILE_CHARACTERS]}"
            for source in sources
            for order, at in (("review this file", 2000),)
        ],
    }
