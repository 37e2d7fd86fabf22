"""English vocabulary of the built-in corpus: generic words and common given names."""

from __future__ import annotations

from chronicle.vocabulary import lines, words
from chronicle.world import DOCUMENT, HAPPENING, SITE

NAMES = {
    "m": words("""Adam Albert Arthur Barry Brian Cedric Clive Colin Daniel Derek Edgar Felix Frank
        Gavin George Graham Harold Henry Hugo Ivan Jasper Kenneth Laurence Leonard Martin Morris
        Neville Oliver Oscar Patrick Quentin Ralph Roger Rupert Simon Stanley Thomas Victor Walter
        Wilfred"""),
    "f": words("""Agnes Alice Amelia Audrey Beatrice Bridget Camilla Clara Cynthia Deborah Dorothy
        Edith Eleanor Emma Esther Fiona Florence Gertrude Grace Hannah Harriet Helen Ingrid Iris
        Janet Judith Laura Lydia Mabel Marion Matilda Naomi Nora Olive Pamela Rosalind Sylvia Ursula
        Vera Winifred"""),
}
ROLES = words("""judge engineer doctor teacher journalist minister editor writer director painter
    ambassador researcher architect translator photographer economist librarian coach sculptor
    actor""")
PLACES = words("""Ashford Barnsley Bedford Bolton Bristol Cardiff Carlisle Chester Colchester
    Coventry Derby Dover Dundee Durham Exeter Gloucester Grimsby Halifax Hereford Huntingdon Ipswich
    Lancaster Leeds Lincoln Luton Norwich Oxford Perth Plymouth Preston Reading Rochester
    Salisbury Sheffield Stafford Swansea Taunton Warwick Winchester York""")
ORGANISATIONS = lines("""the city council
        the teachers' union
        the budget committee
        the district court
        the culture ministry
        the bank management
        the residents of the quarter/p
        the members of the commission/p
        the port workers/p
        the students' association
        the parents' committee
        the fire brigade
        the county police/p
        the history society
        the city orchestra
        the theatre company
        the football club
        the research institute
        the publishing house
        the water company
        the railway authority
        the farmers' cooperative
        the hospital management
        the museum team
        the radio station
        the editors of the newspaper/p
        the pupils of the class/p
        the volunteers of the charity/p
        the shop owners/p
        the planning office
        the youth movement
        the law firm""")
NOUNS = {
    DOCUMENT: words("""agreement report contract letter proposal plan budget petition map list
        invoice statement statute questionnaire article complaint permit brochure"""),
    SITE: words("""school bridge library hospital station museum theatre market clinic factory port
        archive hall park"""),
    HAPPENING: words("""exhibition conference concert debate festival course ceremony competition
        excursion hearing workshop lecture play reception"""),
}
# Base form: past and past participle where they are not base + ed; then `|` and the preposition.
VERBS = {
    "sign": "", "publish": "", "approve": "", "reject": "", "submit": "submitted submitted",
    "read": "read read", "draft": "", "translate": "", "present": "", "distribute": "",
    "correct": "", "print": "", "examine": "", "receive": "", "send": "sent sent",
    "copy": "copied copied", "lose": "lost lost", "find": "found found", "hide": "hid hidden",
    "update": "", "open": "", "close": "", "visit": "", "renovate": "", "paint": "", "rent": "",
    "buy": "bought bought", "sell": "sold sold", "clean": "", "inspect": "", "guard": "",
    "measure": "", "evacuate": "", "expand": "", "organise": "", "cancel": "cancelled cancelled",
    "postpone": "", "promote": "", "attend": "", "moderate": "", "watch": "", "film": "",
    "fund": "", "praise": "", "condemn": "", "initiate": "", "record": "", "thank": "",
    "congratulate": "", "invite": "", "interview": "", "phone": "", "accompany":
    "accompanied accompanied", "recruit": "", "meet": "met met", "question": "", "support": "",
    "warn": "", "reassure": "", "help": "", "argue": "|with", "arrive": "|in",
    "leave": "left left", "return": "|to", "move": "|to", "travel": "travelled travelled|to",
    "resign": "", "speak": "spoke spoken", "protest": "", "vote": "", "begin": "began begun",
    "end": "", "shut": "shut shut", "reopen": "", "vanish": "",
    "say": "said said", "announce": "", "report": "", "write": "wrote written",
    "tell": "told told|reporters", "claim": "", "explain": "", "recall": "", "add": "",
    "stress": "", "reveal": "",
}  # fmt: skip
NUMBERS = words("_ one two three four five six seven eight nine")
MONTHS = words("""January February March April May June July August September October November
    December""")
